import { isPromise, recovering } from '../../basics/awaitable';
import type { RunId } from '../leases/token';
import type { TimedStores } from '../store-calls/timed-stores';

/** Renewals while a lease lasts: two may fail before it is lost. */
export const RENEWALS_PER_LEASE = 3;

/** Renews the lease of a run while its handler runs. */
export class Renewal {
  /**
   * When the lease expires by our own clock, in milliseconds of the monotonic clock. In a process that was stopped,
   * this may be over although `onLost` has not been called yet.
   */
  until: number;
  private timer: NodeJS.Timeout | undefined;
  private expiry: NodeJS.Timeout | undefined;
  private hasStopped = false;

  /**
   * @param asked when the lease was asked for, in milliseconds of the monotonic clock: it begins then, not when the
   * answer arrives.
   * @param onLost called once, when another run has the lease, or it has expired because the store was out of reach.
   */
  constructor(
    private readonly run: RunId,
    private readonly leaseDuration: number,
    private readonly stores: TimedStores,
    asked: number,
    private readonly onLost: () => void,
  ) {
    this.until = asked + leaseDuration;
    this.renewAfter(asked);
  }

  stop(): void {
    this.hasStopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.expiry);
  }

  private renewAfter(asked: number): void {
    const due = asked + this.leaseDuration / RENEWALS_PER_LEASE;
    this.timer = setTimeout(
      () => {
        void this.renew();
      },
      Math.max(0, due - performance.now()),
    ).unref();
  }

  private async renew(): Promise<void> {
    const asked = performance.now();
    const lose = (): void => {
      this.lose();
    };
    const renewal = recovering<boolean | undefined>(
      () => this.stores.renew(this.run),
      () => undefined,
    );
    // Our own clock ends the lease, whatever the answer to a renewal under way will be: others may run from then on.
    // (Leases in memory answer at once, and nobody else can take them while this process stands still.)
    if (asked >= this.until && isPromise(renewal)) {
      lose();
      return;
    }
    // Not armed earlier, since a lease does not expire before its first renewal: most handlers end before that.
    clearTimeout(this.expiry);
    this.expiry = setTimeout(lose, Math.max(0, this.until - asked)).unref();
    const isHeld = await renewal;
    if (this.hasStopped) return;
    if (isHeld === false) {
      lose();
      return;
    }
    if (isHeld) {
      this.until = asked + this.leaseDuration;
      clearTimeout(this.expiry);
    }
    this.renewAfter(asked);
  }

  private lose(): void {
    this.stop();
    this.onLost();
  }
}
