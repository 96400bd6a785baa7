import { withinDeadline } from './deadline';
import type { Claim } from './exchange';
import type { Settings } from './options';
import type { LeaseStore } from './leases/lease-store';
import { RENEWALS_PER_LEASE } from './renewal';

/** Milliseconds, at most, from a renewal that did not get the lease to the next one. */
const RETRY_PAUSE = 1_000;

const tokens = new WeakMap<LeaseStore, Map<string, string>>();

/** The token of the run whose response this process is just storing under a key. */
export function tokenHeldHere(cacheKey: string, leases: LeaseStore): string | undefined {
  return tokens.get(leases)?.get(cacheKey);
}

/**
 * Keeps the lease of a run until its response is stored, however long the store is slow or away: the handler has run,
 * and must not run again for that. Unlike a handler's, this lease is not over by our own clock: one that has expired is
 * acquired again, by the same token, unless another has it.
 * @param until when the lease expires by our own clock, in milliseconds of the monotonic clock.
 * @returns a function that ends this.
 */
export function holdLease({ cacheKey, token }: Claim, settings: Settings, until: number): () => void {
  const { leases, leaseDuration, storeTimeout } = settings;
  const bound = Math.min(storeTimeout, leaseDuration);
  const interval = leaseDuration / RENEWALS_PER_LEASE;
  const held = tokens.get(leases) ?? new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const hasStopped = (): boolean => stopped;

  const isHeld = async (): Promise<boolean> => {
    if (await withinDeadline(() => leases.renew(cacheKey, token, leaseDuration), bound)) return true;
    if (hasStopped()) return false;
    return (await withinDeadline(() => leases.acquire(cacheKey, token, leaseDuration), bound)).kind === 'acquired';
  };
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    const isOurs = await isHeld().catch(() => false);
    if (!hasStopped()) renewAt(asked + (isOurs ? interval : Math.min(interval, RETRY_PAUSE)));
  };
  const renewAt = (time: number): void => {
    timer = setTimeout(() => {
      void renew();
    }, time - performance.now()).unref();
  };

  tokens.set(leases, held.set(cacheKey, token));
  renewAt(until - leaseDuration + interval);
  return () => {
    stopped = true;
    clearTimeout(timer);
    if (held.get(cacheKey) === token) held.delete(cacheKey);
  };
}
