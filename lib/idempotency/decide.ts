import { inspect } from 'node:util';
import { isExchangeOver } from '../http/exchange-end';
import type { Attempt, Exchange, Outcome } from './exchange/exchange';
import type { Acquisition } from './leases/lease-store';
import { localRun } from './leases/local-runs';
import { fingerprintOf, isToken, PURGE, REMEDY } from './leases/token';
import { joinWaiters } from './leases/waiting';
import { StoreUnavailable } from './store-calls/store-call';

/** An answer of the lease store, or what follows from it for a request that has not got the key. */
type Answer = Acquisition | Extract<Outcome, { readonly kind: 'reused' | 'store-failed' }>;

/**
 * Asks for the right to run. While another request has it, waits, and takes over when that one gives up.
 * @returns the right, or the outcome of a request that does not run, or not again.
 */
export async function decide(exchange: Exchange, attempt: Attempt): Promise<{ kind: 'acquired' } | Outcome> {
  const { options, stores } = exchange;
  const { cacheKey } = attempt;
  let waited = false;
  let hasRun = false;
  try {
    let answer = await ask(exchange, attempt);
    if (answer.kind === 'running' && options.whenInFlight === 'wait') {
      waited = true;
      answer = await waitForTurn(exchange, attempt, answer);
    }
    if (answer.kind === 'running') return { kind: 'conflicted', status: 409, msLeft: answer.msLeft };
    if (answer.kind === 'unknown') return { kind: 'outcome-unknown', status: 409 };
    if (answer.kind !== 'done') return answer;
    hasRun = true;
    const response = await stores.read({ cacheKey, token: answer.token });
    if (!response) return { kind: 'unavailable', status: 409 };
    return { kind: waited ? 'waited' : 'replayed', response, status: response.status };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // This process may know of a run that the store cannot tell of.
    const phase = localRun(cacheKey, options.leases)?.phase;
    hasRun ||= phase === 'storing';
    return hasRun || phase || waited || options.whenStoreFails === 'reject'
      ? { kind: 'store-failed', status: 503, error, hasRun }
      : { kind: 'store-failed', error, unguarded: attempt };
  }
}

/** Waits for the end of the run that is under way, for `waitTimeout` at most. */
async function waitForTurn(exchange: Exchange, attempt: Attempt, first: Answer): Promise<Answer> {
  const { req, res, options } = exchange;
  const deadline = performance.now() + options.waitTimeout;
  const isGone = (): boolean => isExchangeOver(req, res);
  const waiters = joinWaiters(attempt.cacheKey, options.leases);
  let seen = waiters.changes;
  let answer = first;
  try {
    while (answer.kind === 'running' && performance.now() < deadline) {
      await waiters.next(seen, deadline - performance.now(), isGone);
      if (isGone()) break;
      seen = waiters.changes;
      answer = await ask(exchange, attempt);
    }
    if (answer.kind === 'done' || answer.kind === 'unknown') waiters.changed();
    return answer;
  } finally {
    waiters.leave();
  }
}

/**
 * Asks the lease store.
 * @throws StoreUnavailable, also if the lease was over when the answer came, since the store was slow, or this process
 * was stopped: another request may have run since.
 */
async function ask({ options, stores }: Exchange, attempt: Attempt): Promise<Answer> {
  const { leaseDuration, whenKeyReused } = options;
  attempt.asked = performance.now();
  const answer = await stores.acquire(attempt, leaseDuration);
  if (answer.kind === 'acquired') {
    if (performance.now() - attempt.asked < leaseDuration) return answer;
    void stores.releaseQuietly(attempt);
    throw new StoreUnavailable(
      `acquire() of the lease store answered after the lease of ${leaseDuration} ms had expired`,
      'Use a longer leaseDuration.',
    );
  }
  const { token } = answer;
  const isSame = [attempt.fingerprint, PURGE].includes(fingerprintOf(token));
  if (isToken(token) && (isSame || whenKeyReused === 'reject'))
    return isSame ? answer : { kind: 'reused', status: 422 };
  // It does not tell whose the lease is. The key is in use all the same, so nothing runs unguarded either.
  const what =
    `The lease of the cache key ${attempt.cacheKey} has the token ${inspect(token.slice(0, 80))}, which bindonce has ` +
    'not made for it';
  return { kind: 'store-failed', status: 503, error: new StoreUnavailable(what, REMEDY), hasRun: false };
}
