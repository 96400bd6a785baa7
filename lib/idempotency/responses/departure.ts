import { MAX_TIMER } from '../../options/check';

/** Carries out what a {@link Departure} decides. */
export interface DepartureListener {
  /** Emits `close`. */
  emitClose(): void;
  /** Ends the wait for the end of the response. */
  giveUpOnEnd(): void;
}

/** Times in milliseconds. */
export interface DepartureTimes {
  readonly leaseDuration: number;
  readonly cacheDuration: number;
}

/**
 * Decides when a handler learns that its client has disconnected, and when its run is over although it has not ended
 * the response.
 *
 * A handler goes on without its client, and its response is stored; so `close` is held back. But a handler that waits
 * for `close` (an event stream) would go on forever. So once it has begun to respond, `close` is emitted after
 * `leaseDuration`. It may still end its response then; if it writes nothing for another `leaseDuration`, its run is
 * over. A handler that has not begun to respond (on Express 4, one whose promise was rejected) may take until
 * `cacheDuration` is over.
 */
export class Departure {
  isGone = false;
  isReported = false;
  /** True while `close` is held back: the handler does not learn yet that its client has disconnected. */
  isHidden = true;
  private hasBegun = false;
  /**
   * When the last of these happened: the client left, the handler began, `close` was emitted, the handler wrote after
   * that.
   */
  private since = 0;
  /** When the run is over at the latest: `cacheDuration` after the client has left. */
  private end = Infinity;
  private timer: NodeJS.Timeout | undefined;
  private hasStopped = false;

  constructor(
    private readonly times: DepartureTimes,
    private readonly listener: DepartureListener,
  ) {}

  /** Notes that the handler has written the head, or a part of the body. */
  wrote(): void {
    if (!this.hasBegun || this.isReported) this.since = performance.now();
    this.hasBegun = true;
  }

  /** Notes that the client has disconnected. */
  clientLeft(): void {
    this.isGone = true;
    this.since = performance.now();
    this.end = this.since + this.times.cacheDuration;
    if (!this.isHidden) this.report();
    if (!this.hasStopped) this.wait();
  }

  /** Emits `close` as soon as the client has disconnected: no response is to be stored. */
  stopHiding(): void {
    this.isHidden = false;
    if (this.isGone && !this.isReported) this.report();
  }

  /** Ends all waiting, when the response has ended. */
  stop(): void {
    this.hasStopped = true;
    clearTimeout(this.timer);
  }

  private report(): void {
    this.isReported = true;
    this.since = performance.now();
    this.listener.emitClose();
  }

  private wait(): void {
    const now = performance.now();
    const due = Math.min(this.end, (this.hasBegun ? this.since : now) + this.times.leaseDuration);
    // The sum is rounded: for the longest lease, the difference may be larger than the lease.
    const delay = Math.min(due - now, MAX_TIMER);
    this.timer = setTimeout(() => {
      this.look();
    }, delay).unref();
  }

  private look(): void {
    const now = performance.now();
    const isDue = this.hasBegun && now - this.since >= this.times.leaseDuration;
    if (now >= this.end || (isDue && this.isReported)) {
      this.listener.giveUpOnEnd();
      return;
    }
    if (isDue) this.report();
    if (!this.hasStopped) this.wait();
  }
}
