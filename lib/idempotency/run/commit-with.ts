import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../basics/awaitable';
import { Problem } from '../../problems/problem';
import type { Exchange } from './exchange';
import type { RecordedResponse } from '../responses/recorded-response';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
import type { TransactionAdapter } from '../stores/transactions';
import type { Kept, Recorder } from './recorder';
import { bytesOf, linesOf, Recording, type HeadersArgument, type HeadersBefore } from './recording';
import { replay } from './replay';

/** A run whose response may be committed together with the application's own data. */
export interface CommittableRun {
  readonly guard: { readonly isForgotten: boolean };
  readonly recorder: Recorder;
  /** Decides what may be kept of a response. */
  judge(response: RecordedResponse): Awaitable<Kept>;
  /** Told how its transaction has ended. */
  end(how: Ended<unknown>['kind']): void;
}

/** How often `work` runs, at most, where PostgreSQL rolls it back for the sake of another transaction. */
const TRIES = 3;
/** Milliseconds between two looks at a transaction that may still be under way. */
const LOOK = 50;

/**
 * How a transaction has ended.
 * - `committed`.
 * - `forgotten`: rolled back, because the handler has called `forget()`: it has answered so.
 * - `lost`: rolled back, because another request has the key.
 * - `again`: rolled back by PostgreSQL for the sake of another transaction.
 * - `failed`: rolled back.
 * - `unknown`: COMMIT was sent, and its answer has not come.
 */
type Ended<T> =
  | { readonly kind: 'committed' | 'forgotten'; readonly value: T; readonly response: RecordedResponse }
  | { readonly kind: 'lost' | 'again' | 'failed' | 'unknown'; readonly error: unknown };

/**
 * Runs `work` in a transaction of the application, and marks the run done and stores its response in the same one.
 *
 *     BEGIN → work(tx), whose response is drafted → the statement of the store → COMMIT → the draft is sent
 *
 * @param run absent for a request that has no guard: its transaction is a plain one.
 * @throws Error before BEGIN where the store has no such statement, or where it was called before; what `work` throws;
 * Problem 503 where COMMIT was not carried out, or nobody knows.
 */
export async function commitWith<Tx, T>(
  exchange: Exchange,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
  run?: CommittableRun,
): Promise<T> {
  const { res, options } = exchange;
  if (run && !options.both?.commit)
    throw new Error(
      'commitWith needs a store that commits in transactions of the application: ' +
        'idempotency({ store: postgresStore(pool) }).',
    );
  check(res);
  for (let tries = 1; ; tries++) {
    const draft = beginDraft(res, run ? options.maxResponseBytes : Infinity, run?.recorder.recording.before);
    const ended = await transact(exchange, adapter, work, draft, run);
    if ('response' in ended) {
      run?.end(ended.kind);
      draft.send(ended.response);
      return ended.value;
    }
    draft.discard();
    if (ended.kind === 'again' && tries < TRIES) continue;
    run?.end(ended.kind);
    throw ended.error;
  }
}

async function transact<Tx, T>(
  exchange: Exchange,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
  draft: Draft,
  run: CommittableRun | undefined,
): Promise<Ended<T>> {
  const { options, id } = exchange;
  // Set by the work, since the library may wrap what it throws.
  let ended = undefined as Ended<T> | undefined;
  try {
    await adapter.transaction(async tx => {
      const value = await work(tx);
      const response = await whole(draft, options.storeTimeout);
      if (run?.guard.isForgotten) {
        ended = { kind: 'forgotten', value, response };
        throw rolledBack('forget() was called');
      }
      const kept = await run?.judge(response);
      if (typeof kept === 'string') throw rolledBack(WHY_NOT_KEPT[kept]);
      const statement = run && options.both?.commit?.(id.cacheKey, id.token, response, options.cacheDuration);
      const rows = statement ? await adapter.execute(tx, statement.text, statement.values) : [];
      ended = run && rows.length === 0 ? overtaken() : { kind: 'committed', value, response };
      if (ended.kind === 'lost') throw ended.error;
    });
    return ended ?? { kind: 'failed', error: new Error('The adapter has not run the work.') };
  } catch (error) {
    if (ended && ended.kind !== 'committed') return ended;
    const isRetryable = run !== undefined && adapter.isRetryable(error);
    return run && (ended || isRetryable)
      ? afterFailure(exchange, isRetryable, ended, error)
      : { kind: 'failed', error };
  }
}

const WHY_NOT_KEPT = {
  nothing: 'shouldCache says that its response is not to be stored',
  record: 'a caller has appeared since: mount authentication before idempotency()',
};

/**
 * Finds out what has become of a transaction that PostgreSQL has rolled back, or whose COMMIT got no answer.
 * @param committed what it is if COMMIT was carried out.
 */
async function afterFailure<T>(
  exchange: Exchange,
  isRetryable: boolean,
  committed: Ended<T> | undefined,
  cause: unknown,
): Promise<Ended<T>> {
  const lease = await look(exchange);
  if (lease === 'lost') return overtaken();
  if (isRetryable) return { kind: lease === 'held' ? 'again' : 'failed', error: cause };
  if (lease === 'done' && committed) return committed;
  const [kind, what] =
    lease === 'held'
      ? (['failed', 'The transaction was not committed, and nothing was executed'] as const)
      : (['unknown', 'It is not known whether the transaction was committed'] as const);
  const detail = `${what}, because the connection to the database failed. Retry later with the same key.`;
  return { kind, error: new Problem('store-unavailable', detail, { headers: { 'Retry-After': '1' }, cause }) };
}

/** Responses that belong to a transaction. */
const committing = new WeakSet<ServerResponse>();

/** @throws Error if the response has begun, or belongs to a transaction. */
function check(res: ServerResponse): void {
  if (committing.has(res))
    throw new Error(
      'commitWith was called twice for one request, or inside itself: one transaction makes its response.',
    );
  if (res.headersSent) throw new Error('commitWith must be called before the response begins: it is part of the work.');
  committing.add(res);
}

/** Waits for the drafted response. @throws Error if there is none, or none that can be stored. */
async function whole(draft: Draft, ms: number): Promise<RecordedResponse> {
  try {
    const response = await withinTime(draft.ended, ms);
    if (typeof response !== 'string') return response;
    throw rolledBack(`the response ${response}`);
  } catch (error) {
    if (error !== TIMED_OUT) throw error;
    throw rolledBack(
      `${ms} ms after the work (storeTimeout) its response has not ended: end it inside, for example with res.json(…)`,
    );
  }
}

/**
 * Asks for the lease again, which finds out what has become of a transaction: a row that is locked belongs to one
 * that is still open.
 * @returns whether it is ours still, done, another's, or locked, as far as one can see.
 */
async function look(exchange: Exchange): Promise<'held' | 'done' | 'lost' | 'open'> {
  const { stores, options, id } = exchange;
  for (const end = performance.now() + options.storeTimeout; performance.now() < end;) {
    try {
      const lease = await stores.acquireAgain(id);
      if (lease.kind === 'acquired') return 'held';
      if (lease.token !== id.token) return 'lost';
      if (lease.kind === 'done') return 'done';
    } catch {
      // The store is away, too: it is asked again until the time is over.
    }
    await pause(LOOK);
  }
  return 'open';
}

const rolledBack = (reason: string): Error =>
  new Error(`commitWith has rolled the transaction back, because ${reason}.`);

const overtaken = () =>
  ({ kind: 'lost', error: rolledBack('the lease was lost, and another request has the key') }) as const;

/** Why a draft is no response that could be stored. */
const UNFIT = {
  streamed: 'was written in pieces; end it with one call, for example res.json(…)',
  tooLong: 'is longer than maxResponseBytes',
  notReplayable: 'has a head that cannot be stored',
} as const;

type Draft = ReturnType<typeof beginDraft>;

/**
 * Begins a response of which nothing reaches node: its status, headers and body are drafted on `res`, whose
 * `headersSent` stays false. It is then thrown away, or sent as a replay is.
 * @param maxBytes bytes of the body that are kept.
 * @param before the headers as the middlewares before `idempotency()` have left them; default: those of now.
 */
export function beginDraft(res: ServerResponse, maxBytes: number, before?: HeadersBefore) {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- they are given back to `res`.
  const { statusCode, statusMessage, writeHead, write, end, flushHeaders, addTrailers } = res;
  const headers = linesOf(res);
  const recording = new Recording(res, maxBytes, before);
  let finished: (() => void) | undefined;
  const ended = new Promise<RecordedResponse | (typeof UNFIT)[keyof typeof UNFIT]>(resolve => {
    const streams = (): boolean => {
      resolve(UNFIT.streamed);
      return true;
    };
    let hasHead = false;
    Object.assign(res, {
      writeHead(status: number, reason?: string | HeadersArgument, given?: HeadersArgument) {
        recording.setHead(status, reason, given);
        hasHead = true;
        return res;
      },
      write: streams,
      flushHeaders: streams,
      addTrailers: recording.keepTrailers.bind(recording),
      end(...args: unknown[]) {
        finished = args.find(argument => typeof argument === 'function') as typeof finished;
        const bytes = bytesOf(args[0], args[1]);
        if (!hasHead) recording.declareLength(bytes.length);
        recording.head ??= recording.takeHead();
        recording.keep(bytes);
        resolve(recording.response ?? (recording.size > maxBytes ? UNFIT.tooLong : UNFIT.notReplayable));
        return res;
      },
    });
  });
  const discard = (): void => {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [name, value] of headers) res.setHeader(name, value);
    Object.assign(res, { statusCode, statusMessage, writeHead, write, end, flushHeaders, addTrailers });
  };
  return {
    /** Resolves when the handler has ended its response, or begins to stream it. */
    ended,
    /** Throws the draft away: `res` is as it was before. */
    discard,
    /** Sends what `ended` has resolved to. */
    send(response: RecordedResponse): void {
      discard();
      if (finished) res.once('finish', finished);
      replay(response, res.req, res, false);
    },
  };
}
