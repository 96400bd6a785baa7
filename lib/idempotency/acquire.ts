import { isExchangeOver } from '../http/exchange-end';
import { Problem } from '../problems/problem';
import { watchForChange } from './leases/change-watch';
import { tokenHeldHere } from './holding';
import { StoreTimeout, withinDeadline } from './deadline';
import type { Claim, Exchange } from './exchange';
import type { Acquisition } from './leases/lease-store';
import { fingerprintOf, PURGE } from './leases/token';
import type { Settings } from './options';

/** An {@link Acquisition}; `asked` is when the store was asked, in milliseconds of the monotonic clock: no lease began before. */
type Asked = Acquisition & { readonly asked: number };

/** What a request is to do: run, replay the response of `token`, or refuse; `waited` is true after it waited for another. */
export type Turn =
  (Asked & { readonly waited: boolean }) | { readonly kind: 'store-failed'; readonly error: StoreTimeout };

/**
 * Asks for the right to run; while another request has it, waits, and takes over when that gives up.
 * @returns `running` when `waitTimeout` is over, or at once with `whenInFlight: 'reject'`.
 * @throws a 422 problem when the key belongs to a request with another fingerprint.
 */
export async function takeTurn({ req, res, claim, settings, tell }: Exchange): Promise<Turn> {
  try {
    return await acquireOrWait(claim, settings, () => isExchangeOver(req, res));
  } catch (error) {
    if (error instanceof Problem) tell('reused', { status: error.status });
    if (!(error instanceof StoreTimeout)) throw error;
    tell('store-failed', { ...(settings.whenStoreFails === 'reject' && { status: 503 }), error });
    return { kind: 'store-failed', error };
  }
}

async function acquireOrWait(claim: Claim, settings: Settings, isGone: () => boolean): Promise<Turn> {
  let acquisition = await acquire(claim, settings);
  if (acquisition.kind !== 'running' || settings.whenInFlight === 'reject') return { ...acquisition, waited: false };
  const deadline = performance.now() + settings.waitTimeout;
  const change = watchForChange(claim.cacheKey, settings.leases);
  try {
    while (acquisition.kind === 'running' && performance.now() < deadline && !isGone()) {
      await change.next(Math.min(acquisition.msLeft, deadline - performance.now()));
      acquisition = await acquire(claim, settings);
    }
    return { ...acquisition, waited: true };
  } finally {
    change.stop();
  }
}

/** Asks once. What a late or lost call acquires is released again. */
async function acquire(claim: Claim, settings: Settings, isRepeated = false): Promise<Asked> {
  const { leaseDuration, storeTimeout } = settings;
  const release = (): void => {
    giveUp(claim, settings).catch(() => undefined);
  };
  const asked = performance.now();
  let acquisition: Acquisition;
  try {
    acquisition = await withinDeadline(() => acquireOrHold(claim, settings), storeTimeout, release);
  } catch (error) {
    release();
    throw error;
  }
  if (acquisition.kind !== 'acquired' && ![claim.fingerprint, PURGE].includes(fingerprintOf(acquisition.token))) {
    throw new Problem(
      'key-reused',
      'This idempotency key was used for a request with other values. Use a new key for a new request.',
    );
  }
  if (acquisition.kind === 'acquired' && performance.now() - asked >= leaseDuration) {
    // The answer was long on the way, or this process was stopped: another may have run meanwhile.
    if (!isRepeated) return acquire(claim, settings, true);
    release();
    throw new StoreTimeout(leaseDuration);
  }
  return { ...acquisition, asked };
}

/**
 * Where this process is just storing the response of an earlier run, that run's lease is acquired anew: this request must
 * not be faster than its storing when the store comes back after the lease has expired.
 */
async function acquireOrHold({ cacheKey, token }: Claim, { leases, leaseDuration }: Settings): Promise<Acquisition> {
  const earlier = tokenHeldHere(cacheKey, leases);
  const acquisition = await leases.acquire(cacheKey, earlier ?? token, leaseDuration);
  if (earlier === undefined || acquisition.kind !== 'acquired') return acquisition;
  return { kind: 'running', token: earlier, msLeft: leaseDuration };
}

/** Releases the lease of this claim, if it has it. @throws StoreTimeout */
export function giveUp({ cacheKey, token }: Claim, { leases, storeTimeout }: Settings): Promise<boolean> {
  return withinDeadline(() => leases.release(cacheKey, token), storeTimeout);
}
