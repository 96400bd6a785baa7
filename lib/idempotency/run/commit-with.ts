import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../problems/problem';
import type { Attempt, Exchange } from '../exchange/exchange';
import type { RecordedResponse } from '../responses/recorded-response';
import { TIMED_OUT, withinTime } from '../store-calls/store-call';
import type { TransactionAdapter } from '../stores/transactions';
import { beginDraft, type Unfit } from './draft';
import { linesOf, type HeadersBefore } from './recording';

type Draft = ReturnType<typeof beginDraft>;

/** A run whose response may be committed together with the application's own data. */
export interface CommittableRun {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly guard: { isForgotten: boolean };
  /** The headers as the middlewares before `idempotency()` have left them. */
  readonly before: HeadersBefore;
  /** Returns why a response must not be stored; undefined if it may be. */
  whyNotKept(response: RecordedResponse): Promise<string | undefined>;
  /** Ends the run: its response is committed, another run has the key, or that is not known. */
  end(how: 'committed' | 'lost' | 'unknown'): void;
}

/** How often `work` runs, at most, where PostgreSQL rolls it back for the sake of another transaction. */
const TRIES = 3;
/** Milliseconds between two looks at a transaction that may still be under way. */
const LOOK = 50;

/** How a transaction has ended. */
type Ended<T> =
  | { readonly kind: 'committed'; readonly value: T; readonly response: RecordedResponse }
  /** Rolled back, because the handler has called `forget()`: it has answered so. */
  | { readonly kind: 'forgotten'; readonly value: T; readonly response: RecordedResponse }
  /** Rolled back, because another request has the key. */
  | { readonly kind: 'overtaken' }
  /** Rolled back by PostgreSQL for the sake of another transaction. */
  | { readonly kind: 'again'; readonly error: unknown }
  /** Rolled back. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Nobody knows: COMMIT was sent, and its answer has not come. */
  | { readonly kind: 'unknown'; readonly error: unknown };

/**
 * Runs `work` in a transaction of the application, and marks the run done and stores its response in the same one.
 *
 *     BEGIN → work(tx), whose response is drafted → the statement of the store → COMMIT → the draft is sent
 *
 * @throws Error before BEGIN where the store has no such statement, or where it was called before; what `work` throws;
 * Problem 503 where COMMIT was not carried out, or nobody knows.
 */
export async function commitWith<Tx, T>(
  run: CommittableRun,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { res, options } = run.exchange;
  if (!options.both?.commit)
    throw new Error(
      'commitWith needs a store that commits in transactions of the application: ' +
        'idempotency({ store: postgresStore(pool) }).',
    );
  check(res);
  for (let tries = 1; ; tries++) {
    const draft = beginDraft(res, run.before, options.maxResponseBytes);
    const ended = await transact(run, adapter, work, draft);
    if (ended.kind !== 'again') return finish(run, draft, ended);
    const lease = await look(run);
    if (lease === 'overtaken') return finish(run, draft, { kind: 'overtaken' });
    if (lease !== 'held' || tries === TRIES) return finish(run, draft, { kind: 'failed', error: ended.error });
    draft.discard();
  }
}

async function transact<Tx, T>(
  run: CommittableRun,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
  draft: Draft,
): Promise<Ended<T>> {
  const { options } = run.exchange;
  const { cacheKey, token } = run.attempt;
  // Set by the work, since the library may wrap what it throws.
  let ended = undefined as Ended<T> | undefined;
  try {
    await adapter.transaction(async tx => {
      const value = await work(tx);
      const response = await whole(draft, options.storeTimeout);
      if (run.guard.isForgotten) {
        ended = { kind: 'forgotten', value, response };
        throw rolledBack('forget() was called');
      }
      const reason = await run.whyNotKept(response);
      if (reason !== undefined) throw rolledBack(reason);
      const statement = options.both?.commit?.(cacheKey, token, response, options.cacheDuration);
      const rows = statement ? await adapter.execute(tx, statement.text, statement.values) : [];
      ended = rows.length > 0 ? { kind: 'committed', value, response } : { kind: 'overtaken' };
      if (ended.kind === 'overtaken') throw overtaken();
    });
    return ended ?? { kind: 'failed', error: new Error('The adapter has not run the work.') };
  } catch (error) {
    if (ended && ended.kind !== 'committed') return ended;
    if (adapter.isRetryable(error)) return { kind: 'again', error };
    return ended ? afterCommit(run, ended, error) : { kind: 'failed', error };
  }
}

/** Finds out whether COMMIT was carried out, whose answer was lost. */
async function afterCommit<T>(run: CommittableRun, committed: Ended<T>, cause: unknown): Promise<Ended<T>> {
  const because = 'because the connection to the database failed. Retry later with the same key.';
  const failure = (what: string): Problem =>
    new Problem('store-unavailable', `${what}, ${because}`, { headers: { 'Retry-After': '1' }, cause });
  switch (await look(run)) {
    case 'done':
      return committed;
    case 'held':
      return { kind: 'failed', error: failure('The transaction was not committed, and nothing was executed') };
    case 'overtaken':
      return { kind: 'overtaken' };
    case 'open':
      return { kind: 'unknown', error: failure('It is not known whether the transaction was committed') };
  }
}

/** Sends the draft, or throws it away. @throws what the handler is told. */
function finish<T>(run: CommittableRun, draft: Draft, ended: Exclude<Ended<T>, { readonly kind: 'again' }>): T {
  switch (ended.kind) {
    case 'committed':
      run.end('committed');
      draft.send(ended.response);
      return ended.value;
    case 'forgotten':
      draft.send(ended.response);
      return ended.value;
    case 'overtaken':
      draft.discard();
      run.end('lost');
      throw overtaken();
    case 'unknown':
      draft.discard();
      run.end('unknown');
      throw ended.error;
    case 'failed':
      draft.discard();
      run.guard.isForgotten = true;
      throw ended.error;
  }
}

/** Runs `work` in a transaction for a request that has no guard. */
export async function commitUnguarded<Tx, T>(
  { res, options }: Exchange,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  check(res);
  const before = new Map(linesOf(res).map(([name, value]) => [name.toLowerCase(), value]));
  const draft = beginDraft(res, before, Infinity);
  try {
    const [value, response] = await adapter.transaction(async tx => {
      const done = await work(tx);
      return [done, await whole(draft, options.storeTimeout)] as const;
    });
    draft.send(response);
    return value;
  } catch (error) {
    draft.discard();
    throw error;
  }
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

const WHY: Readonly<Record<Unfit, string>> = {
  streamed: 'was written in pieces; end it with one call, for example res.json(…)',
  'too-long': 'is longer than maxResponseBytes',
  'not-replayable': 'has a head that cannot be stored',
};

/** Waits for the drafted response. @throws Error if there is none, or none that can be stored. */
async function whole(draft: Draft, ms: number): Promise<RecordedResponse> {
  try {
    const response = await withinTime(draft.ended, ms);
    if (typeof response !== 'string') return response;
    throw rolledBack(`the response ${WHY[response]}`);
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
 */
async function look({ exchange: { stores, options }, attempt }: CommittableRun): Promise<Found> {
  for (const end = performance.now() + options.storeTimeout; performance.now() < end;) {
    try {
      const lease = await stores.acquireAgain(attempt);
      if (lease.kind === 'acquired') return 'held';
      if (lease.token !== attempt.token) return 'overtaken';
      if (lease.kind === 'done') return 'done';
    } catch {
      // The store is away, too: it is asked again until the time is over.
    }
    await pause(LOOK);
  }
  return 'open';
}

/** The state of the key: it is ours, done, another's, or its row is locked, as far as one can see. */
type Found = 'held' | 'done' | 'overtaken' | 'open';

const rolledBack = (reason: string): Error =>
  new Error(`commitWith has rolled the transaction back, because ${reason}.`);

const overtaken = (): Error => rolledBack('the lease was lost, and another request has the key');
