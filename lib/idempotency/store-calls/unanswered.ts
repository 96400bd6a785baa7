/** Calls that may be unanswered at one time. */
const MOST = 100;
/** Milliseconds between two calls of a store with more of them. */
const PAUSE = 1_000;

/**
 * Counts the calls of a store that were given up before they were answered. A client that is not connected, or whose
 * server is silent, keeps each of them in memory. So a store with many of them is called only once a second, until it
 * answers.
 */
export class Unanswered {
  /** Number of calls that were given up, and not answered since. */
  count = 0;
  private called = -Infinity;

  /** Returns true if the store may be called now; a call must follow. */
  allowsCall(): boolean {
    if (this.count < MOST) return true;
    const now = performance.now();
    if (now - this.called < PAUSE) return false;
    this.called = now;
    return true;
  }

  /** Counts a call that is given up. */
  add(): void {
    this.count++;
  }

  /** Takes back a call that was given up, and is answered after all. */
  remove(): void {
    this.count = Math.max(0, this.count - 1);
  }

  /** Takes back all calls when one is answered in time: a client may have lost the answers to the others. */
  clear(): void {
    this.count = 0;
  }
}
