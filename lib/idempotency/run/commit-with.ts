import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../problems/problem';
import type { Attempt, Exchange } from '../exchange/exchange';
import type { RecordedResponse } from '../responses/recorded-response';
import { TimedOut, withinTime } from '../store-calls/store-call';
import type { TransactionAdapter } from '../stores/transactions';
import { Draft, type Unfit } from './draft';
import { headersBefore } from './head';

/** A run whose response may be committed together with the application's own data. */
export interface CommittableRun {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  /** The headers as the middlewares before `idempotency()` have left them. */
  readonly before: ReturnType<typeof headersBefore>;
  /** Why the response must not be stored; undefined if it may be. */
  readonly whyNotKept: (response: RecordedResponse) => Promise<string | undefined>;
  /** True if the handler has called `forget()`. */
  readonly isForgotten: () => boolean;
  /** Ends the run: its response is committed, another run has the key, or that is not known. */
  readonly end: (how: 'committed' | 'lost' | 'unknown') => void;
  /** Keeps nothing of what the handler answers from now on: the key is free. */
  readonly giveUp: () => void;
}

/** How often `work` runs, at most, where PostgreSQL rolls it back for the sake of another transaction. */
const TRIES = 3;
/** Milliseconds between two looks at a transaction that may still be under way. */
const LOOK = 50;

/**
 * Runs `work` in a transaction of the application, and marks the run done and stores its response in the same one.
 *
 *     BEGIN → work(tx), whose response is drafted → the statement of the store → COMMIT → the draft is sent
 *
 * @throws Error before BEGIN where the store has no such statement, or where it was called before; what `work` throws;
 * Problem 503 where it is not known, or not so, that COMMIT was carried out.
 */
export async function commitWith<Tx, T>(
  run: CommittableRun,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { exchange, attempt } = run;
  const { res, options } = exchange;
  const { commit } = options;
  if (!commit)
    throw new Error(
      'commitWith needs a store that commits in transactions of the application: idempotency({ store: postgresStore(pool) }).',
    );
  check(res);
  for (let tries = 1; ; tries++) {
    const draft = new Draft(res, run.before, options.maxResponseBytes);
    let isAtCommit = false;
    let isOvertaken = false;
    let isForgotten = false;
    let value: T | undefined;
    const committed = (): T => {
      run.end('committed');
      draft.send();
      return value as T;
    };
    try {
      await adapter.transaction(async tx => {
        value = await work(tx);
        const response = await whole(draft, options.storeTimeout);
        isForgotten = run.isForgotten();
        const reason = isForgotten ? 'forget() was called' : await run.whyNotKept(response);
        if (reason !== undefined) throw new Error(`commitWith has rolled the transaction back, because ${reason}.`);
        const { text, values } = commit(attempt.cacheKey, attempt.token, response, options.cacheDuration);
        isOvertaken = (await adapter.execute(tx, text, values)).length === 0;
        if (isOvertaken) throw overtaken();
        isAtCommit = true;
      });
      return committed();
    } catch (error) {
      if (isForgotten) {
        draft.send();
        return value as T;
      }
      if (!isOvertaken && (isAtCommit || tries < TRIES) && (isAtCommit || adapter.isRetryable(error))) {
        const found = await look(exchange, attempt);
        if (found === 'committed') return committed();
        isOvertaken = found === 'overtaken';
        if (found === 'open') {
          draft.discard();
          if (adapter.isRetryable(error) && tries < TRIES) continue;
          run.giveUp();
          throw notCommitted('The transaction was not committed, and nothing was executed', error);
        }
        if (found === 'unknown') {
          draft.discard();
          run.end('unknown');
          throw notCommitted('It is not known whether the transaction was committed', error);
        }
      }
      draft.discard();
      if (isOvertaken) run.end('lost');
      else run.giveUp();
      throw isOvertaken ? overtaken() : error;
    }
  }
}

/** Runs `work` in a transaction for a request that has no guard. */
export async function commitUnguarded<Tx, T>(
  res: ServerResponse,
  adapter: TransactionAdapter<Tx>,
  work: (tx: Tx) => Promise<T>,
  ms: number,
): Promise<T> {
  check(res);
  const draft = new Draft(res, headersBefore(res), Infinity);
  try {
    const value = await adapter.transaction(async tx => {
      const done = await work(tx);
      await whole(draft, ms);
      return done;
    });
    draft.send();
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
    throw new Error(`commitWith has rolled the transaction back, because the response ${WHY[response]}.`);
  } catch (error) {
    if (!(error instanceof TimedOut)) throw error;
    throw new Error(
      `commitWith has rolled the transaction back: ${ms} ms after the work (storeTimeout), its response has not ended. ` +
        'End it inside the work, for example with res.json(…).',
    );
  }
}

/** Finds out what has become of a transaction: a row that is locked belongs to one that is still open. */
async function look(
  { stores, options }: Exchange,
  attempt: Attempt,
): Promise<'committed' | 'open' | 'overtaken' | 'unknown'> {
  for (const end = performance.now() + options.storeTimeout; performance.now() < end;) {
    try {
      const held = await stores.acquireAgain(attempt, end - performance.now());
      if (held.kind === 'acquired') return 'open';
      if (held.token !== attempt.token) return 'overtaken';
      if (held.kind === 'done') return 'committed';
    } catch {
      // The store is away, too: it is asked again until the time is over.
    }
    await pause(LOOK);
  }
  return 'unknown';
}

const overtaken = (): Error =>
  new Error('commitWith has rolled the transaction back: the lease was lost, and another request has the key.');

const notCommitted = (what: string, cause: unknown): Problem =>
  new Problem(
    'store-unavailable',
    `${what}, because the connection to the database failed. Retry later with the same key.`,
    {
      headers: { 'Retry-After': '1' },
      cause,
    },
  );

/** Makes a key for another service out of that of this request: the same in each of its attempts, for each name another. */
export function derivedKey(cacheKey: string, name: string): string {
  return createHash('sha256')
    .update(JSON.stringify([cacheKey, name]))
    .digest('base64url');
}
