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
   * @param asked when the lease was asked for, in milliseconds of the monotonic clock.
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

  /**
   * Ends the lease if it is over by our own clock. In a process that was stopped, a handler may be at work again before
   * the timers are.
   */
  loseIfOver(): void {
    if (!this.hasStopped && performance.now() >= this.until) this.lose();
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
    // Not armed earlier, since a lease does not expire before its first renewal: most handlers end before that.
    clearTimeout(this.expiry);
    if (asked < this.until) {
      this.expiry = setTimeout(() => {
        this.lose();
      }, this.until - asked).unref();
    } else {
      // The lease is over already if this process stood still, and another of its requests may get it before a timer is
      // called, which takes 1 ms. Leases in memory are renewed before the next turn.
      setImmediate(() => {
        this.loseIfOver();
      });
    }
    const isHeld = await this.stores.renew(this.run).catch(() => undefined);
    if (this.hasStopped) return;
    if (isHeld === false) {
      this.lose();
      return;
    }
    // Both times count from the question: a lease does not begin when its answer arrives. And our own clock ends the
    // lease, whatever the answer to a renewal that is under way will be: others may run from then on.
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
