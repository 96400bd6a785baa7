import { withinDeadline } from './deadline';
import type { Claim } from './exchange';
import type { Settings } from './options';

/** A lease is renewed this often while it lasts: two renewals may fail before it is lost. */
export const RENEWALS_PER_LEASE = 3;

export interface Renewal {
  /**
   * When the lease expires by our own clock, in milliseconds of the monotonic clock; in a process that was stopped,
   * nobody may have been told yet.
   */
  readonly until: number;
  stop(): void;
}

/**
 * Renews the lease while the handler runs.
 * @param acquired when the lease was asked for, in milliseconds of the monotonic clock.
 * @param onLost called once, when the lease is somebody else's or has run out because the store was out of reach.
 */
export function keepRenewing(
  { cacheKey, token }: Claim,
  settings: Settings,
  acquired: number,
  onLost: () => void,
): Renewal {
  const { leases, leaseDuration, storeTimeout } = settings;
  let timer: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let until = acquired + leaseDuration;
  let stopped = false;
  const hasStopped = (): boolean => stopped;
  const stop = (): void => {
    stopped = true;
    clearTimeout(timer);
    clearTimeout(expiry);
  };
  const lose = (): void => {
    stop();
    onLost();
  };

  const renew = async (): Promise<void> => {
    const asked = performance.now();
    const answer = await withinDeadline(
      () => leases.renew(cacheKey, token, leaseDuration),
      Math.min(storeTimeout, leaseDuration),
    ).catch(() => undefined);
    if (hasStopped()) return;
    if (answer === false) {
      lose();
      return;
    }
    if (answer) keepFrom(asked);
    renewAfter(asked);
  };
  // Both are counted from the asking: a lease does not begin when its answer comes. And the end of a lease is told by
  // our own clock, whatever a renewal that is under way may come to: others may run from then on.
  const keepFrom = (asked: number): void => {
    clearTimeout(expiry);
    until = asked + leaseDuration;
    expiry = setTimeout(lose, until - performance.now()).unref();
  };
  const renewAfter = (asked: number): void => {
    timer = setTimeout(
      () => {
        void renew();
      },
      asked + leaseDuration / RENEWALS_PER_LEASE - performance.now(),
    ).unref();
  };
  keepFrom(acquired);
  renewAfter(acquired);
  return {
    get until() {
      return until;
    },
    stop,
  };
}
