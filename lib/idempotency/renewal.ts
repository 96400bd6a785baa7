import type { RunId } from './leases/token';
import type { TimedStores } from './timed-stores';

/** Renewals while a lease lasts: two may fail before it is lost. */
export const RENEWALS_PER_LEASE = 3;

export interface Renewal {
  /**
   * When the lease expires by our own clock, in milliseconds of the monotonic clock. In a process that was stopped,
   * this may be over although `onLost` has not been called yet.
   */
  readonly until: number;
  stop(): void;
}

/**
 * Renews the lease while the handler runs.
 * @param acquired when the lease was asked for, in milliseconds of the monotonic clock.
 * @param onLost called once, when another run has the lease, or it has expired because the store was out of reach.
 */
export function keepRenewing(
  run: RunId,
  leaseDuration: number,
  stores: TimedStores,
  acquired: number,
  onLost: () => void,
): Renewal {
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
    // Not armed earlier, since a lease does not expire before its first renewal: most handlers end before that.
    clearTimeout(expiry);
    expiry = setTimeout(lose, until - asked).unref();
    const isHeld = await stores.renew(run).catch(() => undefined);
    if (hasStopped()) return;
    if (isHeld === false) {
      lose();
      return;
    }
    // Both times count from the question: a lease does not begin when its answer arrives. And our own clock ends the
    // lease, whatever the answer to a renewal that is under way will be: others may run from then on.
    if (isHeld) {
      until = asked + leaseDuration;
      clearTimeout(expiry);
    }
    renewAfter(asked);
  };
  const renewAfter = (asked: number): void => {
    timer = setTimeout(
      () => {
        void renew();
      },
      asked + leaseDuration / RENEWALS_PER_LEASE - performance.now(),
    ).unref();
  };
  renewAfter(acquired);
  return {
    get until() {
      return until;
    },
    stop,
  };
}
