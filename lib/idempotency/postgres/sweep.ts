/** Milliseconds from the use of the table to the sweep; until then, what has run out is only dead weight. */
export const SWEEP_DELAY = 60_000;

/** Rows that are deleted in one statement. */
export const SWEEP_BATCH = 1_000;

/** Deletes what has run out, while the leases are used. Every process does: they do not get into each other's way. */
export class PostgresSweep {
  private timer: NodeJS.Timeout | undefined;

  /** @param batch deletes up to SWEEP_BATCH rows and answers their number. */
  constructor(private readonly batch: () => Promise<number>) {}

  used(): void {
    this.timer ??= setTimeout(() => {
      void this.sweep();
    }, SWEEP_DELAY).unref();
  }

  private async sweep(): Promise<void> {
    try {
      while ((await this.batch()) === SWEEP_BATCH) {
        /* there may be more */
      }
    } catch {
      /* the next sweep finds the same rows */
    }
    this.timer = undefined;
  }
}
