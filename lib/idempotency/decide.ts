import { inspect } from 'node:util';
import { isPromise } from '../basics/awaitable';
import { isExchangeOver } from '../http/exchange-end';
import { outcomeIfUnanswerable, type Attempt, type Exchange } from './exchange/exchange';
import { localRun } from './leases/local-runs';
import { watchForChange } from './leases/waiting';
import { fingerprintOf, isToken, PURGE, REMEDY } from './leases/token';
import type { KnownAcquisition } from './leases/lease-store';
import type { Outcome } from './outcome';
import { StoreUnavailable } from './store-calls/store-call';

/** The next step of a request. */
export type Decision =
  /** Run. `asked` is when the lease was asked for, in milliseconds of the monotonic clock: it began no earlier. */
  | { readonly kind: 'acquired'; readonly asked: number }
  /** Replay the response of the run of `token`. */
  | { readonly kind: 'done'; readonly token: string; readonly waited: boolean }
  /** Give up: another request runs, and holds the lease for `msLeft` more milliseconds. */
  | { readonly kind: 'running'; readonly msLeft: number }
  /** Give up: the key belongs to a request with another fingerprint. */
  | { readonly kind: 'key-reused' }
  /** `wasRunning` is true if another request ran when the store last answered. */
  | { readonly kind: 'store-unavailable'; readonly error: StoreUnavailable; readonly wasRunning: boolean };

/**
 * Asks for the right to run. While another request has it, waits, and takes over when that one gives up.
 * @returns `running` after `waitTimeout`, or at once with `whenInFlight: 'reject'`.
 */
export async function decide(exchange: Exchange, attempt: Attempt): Promise<Decision> {
  let wasRunning = false;
  try {
    const decision = await ask(exchange, attempt);
    if (decision.kind !== 'running' || exchange.options.whenInFlight === 'reject') return decision;
    wasRunning = true;
    return await waitForTurn(exchange, attempt, decision);
  } catch (error) {
    if (error instanceof StoreUnavailable) return { kind: 'store-unavailable', error, wasRunning };
    throw error;
  }
}

/** Waits for the end of the run that is under way. */
async function waitForTurn(exchange: Exchange, attempt: Attempt, first: Decision): Promise<Decision> {
  const { req, res, options } = exchange;
  const deadline = performance.now() + options.waitTimeout;
  const isGone = (): boolean => isExchangeOver(req, res);
  const change = watchForChange(attempt.cacheKey, options.leases, isGone);
  let decision = first;
  try {
    while (decision.kind === 'running' && performance.now() < deadline) {
      await change.next(decision.msLeft, deadline - performance.now());
      if (isGone()) break;
      decision = await ask(exchange, attempt);
    }
    if (decision.kind !== 'done') return decision;
    change.wakeOthers();
    return { kind: 'done', token: decision.token, waited: true };
  } finally {
    change.stop();
  }
}

/**
 * Asks the lease store; once more if the lease was over when the answer came, since the store was slow, or this process
 * was stopped: another request may have run since.
 * @throws StoreUnavailable
 */
async function ask(exchange: Exchange, attempt: Attempt): Promise<Decision> {
  const {
    options: { leaseDuration },
    stores,
  } = exchange;
  for (let tries = 0; tries < 2; tries++) {
    const asked = performance.now();
    const answer = stores.acquire(attempt, leaseDuration);
    const acquisition = isPromise(answer) ? await answer : answer;
    if (acquisition.kind !== 'acquired') return decisionFor(acquisition, attempt, exchange);
    if (performance.now() - asked < leaseDuration) return { kind: 'acquired', asked };
  }
  void stores.releaseQuietly(attempt);
  throw new StoreUnavailable(
    `acquire() of the lease store answered after the lease of ${leaseDuration} ms had expired, twice`,
    'Use a longer leaseDuration.',
  );
}

function decisionFor(
  acquisition: Exclude<KnownAcquisition, { kind: 'acquired' }>,
  { cacheKey, fingerprint }: Attempt,
  { options: { whenKeyReused } }: Exchange,
): Decision {
  const { token } = acquisition;
  const isSame = [fingerprint, PURGE].includes(fingerprintOf(token));
  if (!isToken(token) || (!isSame && whenKeyReused === 'run')) {
    // It does not tell whose the lease is. The key is in use all the same, so nothing runs unguarded either.
    const error = new StoreUnavailable(
      `The lease of the cache key ${cacheKey} has the token ${inspect(token.slice(0, 80))}, which bindonce has not ` +
        'made for it',
      REMEDY,
    );
    return { kind: 'store-unavailable', error, wasRunning: true };
  }
  if (!isSame) return { kind: 'key-reused' };
  // Written out: for an object that is spread and extended, V8 makes a shape each time.
  return acquisition.kind === 'done' ? { kind: 'done', token, waited: false } : acquisition;
}

/** A decision by which the handler does not run, or not again. */
type NotAcquired = Exclude<Decision, { readonly kind: 'acquired' }>;

/** Finds the outcome of a request whose handler does not run. */
export async function outcomeWithoutRun(exchange: Exchange, attempt: Attempt, decision: NotAcquired): Promise<Outcome> {
  const outcome = await outcomeOf(decision, exchange, attempt);
  return outcomeIfUnanswerable(exchange) ?? outcome;
}

async function outcomeOf(decision: NotAcquired, { options, stores }: Exchange, attempt: Attempt): Promise<Outcome> {
  const { key, cacheKey } = attempt;
  switch (decision.kind) {
    case 'done':
      try {
        const response = await stores.read({ cacheKey, token: decision.token });
        return response ? { kind: 'replayed', response, waited: decision.waited } : { kind: 'response-unavailable' };
      } catch (error) {
        return { kind: 'store-unavailable', hasRun: true, error };
      }
    case 'running':
      return { kind: 'in-flight', msLeft: decision.msLeft };
    case 'key-reused':
      return decision;
    case 'store-unavailable': {
      const { error, wasRunning } = decision;
      // This process may know of a run that the store cannot tell of.
      const known = localRun(cacheKey, options.leases);
      const isDone = known?.phase === 'storing';
      return isDone || known || wasRunning || options.whenStoreFails === 'reject'
        ? { kind: 'store-unavailable', error, hasRun: isDone }
        : { kind: 'unguarded', error, key, cacheKey };
    }
  }
}
