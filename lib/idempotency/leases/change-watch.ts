import type { LeaseStore } from './lease-store';

/** Without a wake-up, a waiter asks again after this time; wake-ups make the answer immediate, this makes it certain. */
const POLL_INTERVAL = { watched: 1_000, unwatched: 100 };

/** One waiter's view of one key. */
export interface ChangeWatch {
  /** Resolves when the key may have changed: it was completed or released, or it is time to look, after `ms` milliseconds at the latest. */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Watches a key. A change that comes before somebody waits for it is not lost. */
export function watchForChange(cacheKey: string, leases: LeaseStore): ChangeWatch {
  let interval = POLL_INTERVAL.unwatched;
  let changed = false;
  let stopped = false;
  let wake = (): void => { changed = true; };
  const onChange = (): void => { wake(); };
  let stopWatching = (): void => { stopped = true; };
  leases.watch?.(cacheKey, onChange).then(
    stop => {
      if (stopped) return stop();
      stopWatching = stop;
      interval = POLL_INTERVAL.watched;
      // What happened before we listened is found by asking once more.
      onChange();
    },
    () => undefined,
  );
  return {
    async next(ms) {
      if (!changed) {
        await new Promise<void>(resolve => {
          // The lease runs out a moment after its last whole millisecond.
          const timer = setTimeout(resolve, Math.max(1, Math.min(ms + 1, interval)));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = () => { changed = true; };
      }
      changed = false;
    },
    stop() { stopWatching(); },
  };
}
