import { outsideRequests } from '../../basics/outside-requests';

/** Milliseconds from the use of the table to the sweep; until then, expired rows only take space. */
export const SWEEP_DELAY = 60_000;

/** Rows that are deleted in one statement. */
export const SWEEP_BATCH = 1_000;

/** Deletes expired rows while the leases are used. Every process does so: they skip each other's rows. */
export class PostgresSweep {
  private timer: NodeJS.Timeout | undefined;

  /** @param batch deletes up to SWEEP_BATCH rows and returns their number. */
  constructor(private readonly batch: () => Promise<number>) {}

  used(): void {
    this.timer ??= outsideRequests(() =>
      setTimeout(() => {
        void this.sweep();
      }, SWEEP_DELAY).unref(),
    );
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
