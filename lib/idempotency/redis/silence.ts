/** Milliseconds between two looks. */
const TICK = 1_000;
/** Looks without an answer between them: longer than a server is busy that answers again (a fork, a slow script). */
const SILENT_TICKS = 5;

/**
 * Notices that a server has not answered anything for five seconds although it was asked: its connection may be dead,
 * with no one left to end it (the machine is lost, a router has forgotten the connection). Neither client notices.
 *
 * Seconds are counted by looks, not by the clock: while this process stands still, no one can read answers.
 */
export class Silence {
  /** Questions without an answer. */
  private open = 0;
  /** Milliseconds that the server may wait on purpose, for one of them. */
  private longestWait = 0;
  private silentTicks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onSilent: () => void) {}

  /**
   * Counts a question.
   * @param waits milliseconds that the server waits before it answers, at most.
   */
  asked(waits = 0): void {
    if (this.open++ === 0) this.longestWait = 0;
    this.longestWait = Math.max(this.longestWait, waits);
    if (this.timer) return;
    this.silentTicks = 0;
    this.wait();
  }

  /** Counts an answer, also if it is an error. */
  heard(): void {
    this.silentTicks = 0;
    // One that was given up may be answered later.
    if (this.open > 0) this.open--;
  }

  private wait(): void {
    this.timer = setTimeout(() => {
      // Node calls timers before it reads sockets: the answer may be there already.
      setImmediate(() => {
        this.look();
      });
    }, TICK).unref();
  }

  private look(): void {
    this.timer = undefined;
    if (this.open === 0) return;
    this.silentTicks++;
    if (this.silentTicks >= SILENT_TICKS + this.longestWait / TICK) {
      // A client may lose an answer for good; then the next connection must not seem silent, too.
      this.open = 0;
      this.onSilent();
      return;
    }
    this.wait();
  }
}
