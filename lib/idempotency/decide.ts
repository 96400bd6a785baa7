import { after, recovering, type Awaitable } from '../basics/awaitable';
import { removeLeftFiles } from '../body/receive';
import { isExchangeOver } from '../http/exchange-end';
import { Problem } from '../problems/problem';
import { refusal, type Exchange, type Outcome } from './run/exchange';
import type { Acquisition } from './leases/lease-store';
import { localRun } from './leases/local-runs';
import { fingerprintOf, PURGE } from './leases/token';
import { joinWaiters } from './leases/waiting';
import { leaveUnguarded } from './mounted';
import { replay } from './run/replay';
import { echoKey } from './run/request-idempotency';
import { StoreUnavailable } from './store-calls/store-call';

/** The answer of the lease store; `reused`: the key belongs to a request with other values. */
type Answer = Acquisition | { readonly kind: 'reused' };

/** The problem of a request that does not run for the sake of an earlier one, by the outcome that is told of it. */
export const REFUSALS = {
  conflicted: [
    'request-in-flight',
    'The first request with this idempotency key has not been answered yet. Retry later with the same key.',
  ],
  reused: [
    'key-reused',
    'This idempotency key was used for a request with other values. Use a new key for a new request.',
  ],
  unavailable: [
    'response-unavailable',
    'The request was executed before and is not executed again, but its response is not available. Do not retry; ' +
      'look up the result.',
  ],
  'outcome-unknown': [
    'outcome-unknown',
    'The request may have been executed before: what executed it ended without saying what it did. It is not ' +
      'executed again until someone has found out. Do not retry, and do not use another key; look up the result.',
  ],
} as const;

/**
 * Asks for the right to run. While another request has it, waits, and takes over when that one gives up.
 * @returns the right, or the outcome of a request that does not run, or not again.
 */
export const decide = (exchange: Exchange): Awaitable<'acquired' | Outcome> =>
  recovering(
    () =>
      after(ask(exchange), first => {
        const waits = first.kind === 'running' && exchange.options.whenInFlight === 'wait';
        return waits ? waitForTurn(exchange, first) : outcomeOf(exchange, first, 'replayed');
      }),
    error => withoutStore(exchange, error),
  );

/** @param kind of the outcome, if the request gets the response of another. */
function outcomeOf(exchange: Exchange, found: Answer, kind: 'waited' | 'replayed'): Awaitable<'acquired' | Outcome> {
  const { req, res, options, stores, id } = exchange;
  if (found.kind === 'acquired') return found.kind;
  void removeLeftFiles(req);
  if (found.kind === 'running') return refused('conflicted', { 'Retry-After': wholeSeconds(found.msLeft) });
  if (found.kind === 'unknown') return refused('outcome-unknown');
  if (found.kind === 'reused') return refused('reused');
  const read = (): Awaitable<Outcome> =>
    after(stores.read({ cacheKey: id.cacheKey, token: found.token }), response => {
      if (!response) return refused('unavailable');
      return { kind, status: response.status, answer: () => replay(response, req, res, options.replayedHeader) };
    });
  return recovering(read, error => withoutStore(exchange, error, true));
}

/**
 * Decides on a request whose question to a store has failed.
 * @param hasRun whether it is known to have run; undefined where the store did not answer its first question.
 * @throws the error, if it is another one.
 */
function withoutStore(exchange: Exchange, error: unknown, hasRun?: boolean): Outcome {
  if (!(error instanceof StoreUnavailable)) throw error;
  const { options, id } = exchange;
  // This process may know of a run that the store cannot tell of.
  const phase = localRun(id.cacheKey, options.leases)?.phase;
  if (hasRun === undefined && !phase && options.whenStoreFails === 'run') return runUnguarded(exchange, error);
  const what =
    hasRun || phase === 'storing'
      ? 'The request was executed before and is not executed again, but its response cannot be read now'
      : 'Nothing was executed for this attempt';
  const detail = `${what}, because the idempotency store is unavailable. Retry later with the same key.`;
  const problem = new Problem('store-unavailable', detail, { headers: { 'Retry-After': '1' }, cause: error });
  return { ...refusal(problem), kind: 'store-failed', error };
}

function refused(kind: keyof typeof REFUSALS, headers = {}): Outcome {
  const [code, detail] = REFUSALS[kind];
  const { status, answer } = refusal(new Problem(code, detail, { headers }));
  return { kind, status, answer };
}

/** Rounds up to whole seconds, at least 1. An application's own lease store may return something else than a number. */
const wholeSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1_000) || 1));

/** The application prefers to run the handler without the guarantee. */
const runUnguarded = (exchange: Exchange, error: StoreUnavailable): Outcome => ({
  kind: 'store-failed',
  error,
  answer() {
    echoKey(exchange);
    leaveUnguarded(exchange);
    exchange.next();
  },
});

/** Waits for the end of the run that is under way, for `waitTimeout` at most, and decides then. */
async function waitForTurn(exchange: Exchange, first: Answer): Promise<'acquired' | Outcome> {
  const { req, res, options, id } = exchange;
  const deadline = performance.now() + options.waitTimeout;
  const isGone = (): boolean => isExchangeOver(req, res);
  const waiters = joinWaiters(id.cacheKey, options.leases);
  let seen = waiters.changes;
  let answer = first;
  try {
    while (answer.kind === 'running' && performance.now() < deadline) {
      await waiters.next(seen, deadline - performance.now(), isGone);
      if (isGone()) break;
      seen = waiters.changes;
      answer = await ask(exchange);
    }
    if (answer.kind === 'done' || answer.kind === 'unknown') waiters.changed();
    return await outcomeOf(exchange, answer, 'waited');
  } catch (error) {
    return withoutStore(exchange, error, false);
  } finally {
    waiters.leave();
  }
}

/**
 * Asks the lease store.
 * @throws StoreUnavailable, also if the lease was over when the answer came, since the store was slow, or this process
 * was stopped: another request may have run since.
 */
function ask(exchange: Exchange): Awaitable<Answer> {
  const { options, stores, id } = exchange;
  const { leaseDuration, whenKeyReused } = options;
  exchange.asked = performance.now();
  return after(stores.acquire(id, leaseDuration), answer => {
    if (answer.kind !== 'acquired') {
      const isSame = whenKeyReused === 'run' || [fingerprintOf(id.token), PURGE].includes(fingerprintOf(answer.token));
      return isSame ? answer : { kind: 'reused' };
    }
    if (performance.now() - exchange.asked < leaseDuration) return answer;
    void stores.releaseQuietly(id);
    throw new StoreUnavailable(
      `acquire() of the lease store answered after the lease of ${leaseDuration} ms had expired`,
      'Use a longer leaseDuration.',
    );
  });
}
