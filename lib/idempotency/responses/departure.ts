/** What is done for the handler of a client that has left. */
export interface Consequences {
  /** Emits `close`. */
  tell(): void;
  /** Waits no longer for the end of the response. */
  abandon(): void;
}

export interface Patience {
  readonly leaseDuration: number;
  readonly cacheDuration: number;
}

/**
 * When the handler learns that its client has left, and when its run is over although it has not ended the response.
 *
 * A handler goes on without its client, and its response is stored; so `close` is held back. But a handler that waits for `close`
 * (an event stream) would go on for ever. Once it has begun to respond it is told after `leaseDuration`. It may still end its
 * response then; if it writes nothing for another `leaseDuration`, nobody waits for it any longer. One that has not begun to
 * respond (on Express 4, a rejected promise ends so) is waited for until `cacheDuration` is over.
 */
export class Departure {
  isGone = false;
  isTold = false;
  /** False: a client that leaves, or has left, is reported at once. */
  isHeldBack = true;
  private hasBegun = false;
  /** Since when the handler has been in its state: client gone, begun, told, or written something since it was told. */
  private since = 0;
  private readonly end: number;
  private timer: NodeJS.Timeout | undefined;
  private hasStopped = false;

  constructor(
    private readonly patience: Patience,
    private readonly consequences: Consequences,
  ) {
    this.end = performance.now() + patience.cacheDuration;
  }

  /** The handler has written the head, or a part of the body. */
  wrote(): void {
    if (!this.hasBegun || this.isTold) this.since = performance.now();
    this.hasBegun = true;
  }

  /** The client has left. */
  goes(): void {
    this.isGone = true;
    this.since = performance.now();
    if (!this.isHeldBack) this.tell();
    if (!this.hasStopped) this.wait();
  }

  /** There is no response to hold on for. */
  report(): void {
    this.isHeldBack = false;
    if (this.isGone && !this.isTold) this.tell();
  }

  /** The response has ended. */
  stop(): void {
    this.hasStopped = true;
    clearTimeout(this.timer);
  }

  private tell(): void {
    this.isTold = true;
    this.since = performance.now();
    this.consequences.tell();
  }

  private wait(): void {
    const now = performance.now();
    const due = Math.min(this.end, (this.hasBegun ? this.since : now) + this.patience.leaseDuration);
    this.timer = setTimeout(() => {
      this.look();
    }, due - now).unref();
  }

  private look(): void {
    const now = performance.now();
    const isDue = this.hasBegun && now - this.since >= this.patience.leaseDuration;
    if (now >= this.end || (isDue && this.isTold)) {
      this.consequences.abandon();
      return;
    }
    if (isDue) this.tell();
    if (!this.hasStopped) this.wait();
  }
}
