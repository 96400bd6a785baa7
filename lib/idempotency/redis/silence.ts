import { outsideRequests } from '../../basics/outside-requests';

/** Milliseconds between two looks. */
const TICK = 1_000;
/** Looks without an answer between them: longer than a server is busy that answers again (a fork, a slow script). */
const SILENT_TICKS = 5;
/** Milliseconds within which a question fails that was not sent: the client is closed, or is not connected. */
const AT_ONCE = 10;

/**
 * Notices that a server has not answered anything for five seconds although it was asked: its connection may be dead,
 * with no one left to end it (the machine is lost, a router has forgotten the connection). Neither client notices.
 *
 * The seconds are counted by a timer, not by the clock: while this process stands still, it reads no answers, and the
 * timer does not fire. A second counts if a question waits at its end, or has failed in it: a client that gives each
 * question up after a second (`commandTimeout` of ioredis) has heard nothing. What was counted is kept until the server
 * answers something.
 *
 * `waits` says how much longer the answer to a question may take. A connection carries one question after another, and
 * each answer shows that the server lives. So the longest `waits` of the open questions is allowed, not their sum.
 */
export class Silence {
  /** Questions without an answer. */
  private open = 0;
  /** Milliseconds that open questions may take longer, where it is a second or more. */
  private readonly longWaits: number[] = [];
  private silentTicks = 0;
  /** True if a question has failed since the last look, and nothing was answered since. */
  private hasFailed = false;
  /** When the open questions were forgotten last, in milliseconds of the monotonic clock. */
  private forgottenAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onSilent: () => void) {}

  /**
   * Counts a question.
   * @param waits milliseconds that the server waits before it answers, or that a long text travels, at most.
   * @returns when it was asked, for `heard` or `failed`.
   */
  asked(waits = 0): number {
    this.open++;
    if (waits >= TICK) this.longWaits.push(waits);
    if (!this.timer)
      outsideRequests(() => {
        this.wait();
      });
    return performance.now();
  }

  /** Counts an answer of the server, also if it is an error. */
  heard(asked: number, waits = 0): void {
    this.silentTicks = 0;
    this.hasFailed = false;
    this.close(asked, waits);
  }

  /** Counts a question that the client has stopped to wait for, or has not sent: the server has said nothing. */
  failed(asked: number, waits = 0): void {
    if (!this.isForgotten(asked) && performance.now() - asked > AT_ONCE) this.hasFailed = true;
    this.close(asked, waits);
  }

  private isForgotten(asked: number): boolean {
    return asked <= this.forgottenAt;
  }

  private close(asked: number, waits: number): void {
    if (this.isForgotten(asked)) return;
    this.open--;
    if (waits >= TICK) this.longWaits.splice(this.longWaits.indexOf(waits), 1);
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
    if (this.open === 0 && !this.hasFailed) return;
    this.hasFailed = false;
    this.silentTicks++;
    if (this.silentTicks >= SILENT_TICKS + Math.max(0, ...this.longWaits) / TICK) {
      this.forget();
      this.onSilent();
    } else if (this.open > 0) this.wait();
  }

  /** Begins anew: a client may lose an answer for good; then the next connection must not seem silent, too. */
  private forget(): void {
    this.open = 0;
    this.longWaits.length = 0;
    this.silentTicks = 0;
    this.forgottenAt = performance.now();
  }
}
