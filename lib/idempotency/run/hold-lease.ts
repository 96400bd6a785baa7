import { areClosed } from '../leases/closable-leases';
import { noteRun } from '../store-calls/local-runs';
import type { RunId } from '../leases/token';
import type { ResolvedOptions } from '../options/resolved-options';
import { RENEWALS_PER_LEASE } from './renewal';
import type { TimedStores } from '../store-calls/timed-stores';

/** Milliseconds, at most, from a renewal that did not get the lease to the next one. */
const RETRY_PAUSE = 1_000;

/**
 * Keeps the lease of a run until its response is stored, however long the store is slow or out of reach: the handler
 * has run, and must not run again because of the store. Unlike a handler's, this lease does not end by our own clock:
 * an expired one is acquired again, by the same token, unless another run has it.
 * @param until when the lease expires by our own clock, in milliseconds of the monotonic clock.
 * @returns a function that ends this.
 */
export function holdLease(
  run: RunId,
  { leases, leaseDuration }: ResolvedOptions,
  stores: TimedStores,
  until: number,
): () => void {
  const interval = leaseDuration / RENEWALS_PER_LEASE;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const hasStopped = (): boolean => stopped;

  const isHeld = async (): Promise<boolean> =>
    !areClosed(leases) && ((await stores.renew(run)) || (!hasStopped() && stores.reacquire(run)));
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    const isOurs = await isHeld().catch(() => false);
    if (!hasStopped()) renewAt(asked + (isOurs ? interval : Math.min(interval, RETRY_PAUSE)));
  };
  const renewAt = (time: number): void => {
    timer = setTimeout(
      () => {
        void renew();
      },
      Math.max(0, time - performance.now()),
    ).unref();
  };

  const hasStored = noteRun(run, 'storing', leases);
  renewAt(until - leaseDuration + interval);
  return () => {
    stopped = true;
    clearTimeout(timer);
    hasStored();
  };
}
