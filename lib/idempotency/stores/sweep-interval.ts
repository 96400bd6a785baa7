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

  /** To be called when an entry was added. */
  start(): void {
    this.timer ??= setInterval(() => {
      if (this.sweep()) return;
      clearInterval(this.timer);
      this.timer = undefined;
    }, this.ms).unref();
  }
}
