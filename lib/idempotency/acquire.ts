import { Problem } from '../problems/problem';
import { StoreTimeout, withinDeadline } from './deadline';
import type { Claim, Exchange } from './exchange';
import type { Acquisition } from './lease-store';
import type { Settings } from './options';

/** Without a wake-up, a waiter asks again after this time; wake-ups make the answer immediate, this makes it certain. */
const POLL_INTERVAL = { watched: 1_000, unwatched: 100 };

/** What a request is to do: run, replay the response of `token`, or refuse; `waited` is true after it waited for another. */
export type Turn =
  | (Acquisition & { readonly waited: boolean })
  | { readonly kind: 'store-failed'; readonly error: StoreTimeout };

/**
 * Asks for the right to run; while another request has it, waits, and takes over when that gives up.
 * @returns `running` when `waitTimeout` is over, or at once with `whenInFlight: 'reject'`.
 * @throws a 422 problem when the key belongs to a request with another fingerprint.
 */
export async function takeTurn({ claim, settings, tell, res }: Exchange): Promise<Turn> {
  try {
    return await acquireOrWait(claim, settings, () => res.destroyed);
  } catch (error) {
    if (error instanceof Problem) tell('reused', { status: error.status });
    if (!(error instanceof StoreTimeout)) throw error;
    tell('store-failed', { error });
    return { kind: 'store-failed', error };
  }
}

async function acquireOrWait(claim: Claim, settings: Settings, isGone: () => boolean): Promise<Turn> {
  let acquisition = await acquire(claim, settings);
  if (acquisition.kind !== 'running' || settings.whenInFlight === 'reject') return { ...acquisition, waited: false };
  const deadline = performance.now() + settings.waitTimeout;
  const change = watch(claim.cacheKey, settings);
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
async function acquire(claim: Claim, settings: Settings): Promise<Acquisition> {
  const { leases, leaseDuration, storeTimeout } = settings;
  const release = (): void => { giveUp(claim, settings).catch(() => undefined); };
  let acquisition: Acquisition;
  try {
    acquisition = await withinDeadline(() => leases.acquire(claim.cacheKey, claim.token, leaseDuration), storeTimeout, release);
  } catch (error) {
    release();
    throw error;
  }
  if (acquisition.kind !== 'acquired' && ![claim.fingerprint, PURGE].includes(fingerprintIn(acquisition.token))) {
    throw new Problem('key-reused', 'This idempotency key was used for a request with other values. Use a new key for a new request.');
  }
  return acquisition;
}

/** Releases the lease of this claim, if it has it. @throws StoreTimeout */
export function giveUp({ cacheKey, token }: Claim, { leases, storeTimeout }: Settings): Promise<boolean> {
  return withinDeadline(() => leases.release(cacheKey, token), storeTimeout);
}

/** Wake-ups for one key. A change that comes before somebody waits for it is not lost. */
function watch(cacheKey: string, { leases }: Settings): { next(ms: number): Promise<void>; stop(): void } {
  let interval = POLL_INTERVAL.unwatched;
  let changed = false;
  let stopped = false;
  let wake = (): void => { changed = true; };
  const onChange = (): void => { wake(); };
  let stopWatching = (): void => { stopped = true; };
  leases.watch?.(cacheKey, onChange).then(
    stop => {
      if (stopped) return stop();
      stopWatching = stop;
      interval = POLL_INTERVAL.watched;
      // What happened before we listened is found by asking once more.
      onChange();
    },
    () => undefined,
  );
  return {
    async next(ms) {
      if (!changed) {
        await new Promise<void>(resolve => {
          // The lease runs out a moment after its last whole millisecond.
          const timer = setTimeout(resolve, Math.max(1, Math.min(ms + 1, interval)));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = () => { changed = true; };
      }
      changed = false;
    },
    stop() { stopWatching(); },
  };
}

/** What stands for a fingerprint in the token of a purge, which is no request. */
export const PURGE = 'purge';

/** Tokens begin with the fingerprint of the request that they were made for. */
function fingerprintIn(token: string): string {
  return token.slice(0, token.indexOf('.'));
}
