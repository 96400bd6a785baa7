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
  /** The questions without an answer, each with the milliseconds that its server may wait on purpose. */
  private readonly questions = new Map<Promise<unknown>, number>();
  private silentTicks = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onSilent: () => void) {}

  /** @param waits milliseconds that the server waits before it answers, at most. */
  asked(answer: Promise<unknown>, waits = 0): void {
    const heard = (): void => {
      this.silentTicks = 0;
      this.questions.delete(answer);
    };
    this.questions.set(answer, waits);
    answer.then(heard, heard);
    if (this.timer) return;
    this.silentTicks = 0;
    this.wait();
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
    if (this.questions.size === 0) return;
    this.silentTicks++;
    const waits = Math.max(...this.questions.values());
    if (this.silentTicks >= SILENT_TICKS + waits / TICK) {
      // A client may lose an answer for good; then the next connection must not seem silent, too.
      this.questions.clear();
      this.onSilent();
      return;
    }
    this.wait();
  }
}
