import { withinDeadline } from './deadline';
import type { Claim } from './exchange';
import type { Settings } from './options';
import type { Recording } from './recorder';

/** A lease is renewed this often while it lasts: two renewals may fail before it is lost. */
const RENEWALS_PER_LEASE = 3;

/**
 * Renews the lease while the handler runs.
 *
 * A handler whose client is gone keeps it for `cacheDuration` at the most, and for one lease once it has begun to answer and
 * does not go on: nobody would ever learn that it has stopped without ending its response (on Express 4, a rejected
 * promise does that; so does a file whose sending stops with its client).
 * @param onLost called once, when the lease is somebody else's or has run out because the store was out of reach.
 */
export function keepRenewing({ cacheKey, token }: Claim, settings: Settings, recording: Recording, onLost: () => void): { stop(): void } {
  const { leases, leaseDuration, cacheDuration, storeTimeout } = settings;
  const started = performance.now();
  let renewed = started;
  let timer: NodeJS.Timeout;
  let stopped = false;
  const hasStopped = (): boolean => stopped;

  const renew = async (): Promise<void> => {
    const asked = performance.now();
    if (asked - started > cacheDuration || recording.isAbandoned(leaseDuration)) recording.abandon();
    if (hasStopped()) return;
    const answer = await withinDeadline(() => leases.renew(cacheKey, token, leaseDuration), Math.min(storeTimeout, leaseDuration)).catch(() => undefined);
    if (hasStopped()) return;
    if (answer) renewed = asked;
    if (answer === false || performance.now() - renewed >= leaseDuration) onLost();
    else schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => { void renew(); }, leaseDuration / RENEWALS_PER_LEASE).unref();
  };
  schedule();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
