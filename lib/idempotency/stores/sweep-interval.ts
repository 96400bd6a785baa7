import { outsideRequests } from '../../basics/outside-requests';

/** Those of node: a test suite that runs all of its fake timers would wait forever for an interval. */
const timers = { setInterval, clearInterval };

/** Calls `sweep` at intervals, as long as there is something to sweep; it does not keep the process alive. */
export class SweepInterval {
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param ms milliseconds between two sweeps.
   * @param sweep removes expired entries, and returns whether any entries are left.
   */
  constructor(
    private readonly ms: number,
    private readonly sweep: () => boolean,
  ) {}

  /** Starts sweeping, until no entries are left; to be called when one was added. */
  start(): void {
    this.timer ??= outsideRequests(() =>
      timers
        .setInterval(() => {
          if (this.sweep()) return;
          timers.clearInterval(this.timer);
          this.timer = undefined;
        }, this.ms)
        .unref(),
    );
  }
}
