import type { LeaseStore } from './lease-store';

/** How often a waiter polls, in milliseconds. Notifications make it fast; polling covers a lost notification. */
const POLL_INTERVAL = { watched: 1_000, unwatched: 100 };

/**
 * Milliseconds between two polls, at least: of a lease that never expires, or has just expired, the store may answer
 * that no time is left.
 */
const SHORTEST_PAUSE = 25;

/** One waiter's view of one key. */
export interface ChangeWatch {
  /**
   * Resolves when the key may have changed: it was completed or released, or it is time to poll, after `ms`
   * milliseconds at the latest.
   */
  next(ms: number): Promise<void>;
  stop(): void;
}

/** Watches a key. A change that comes before the call of `next` is not lost. */
export function watchForChange(cacheKey: string, leases: LeaseStore): ChangeWatch {
  let interval = POLL_INTERVAL.unwatched;
  let changed = false;
  let stopped = false;
  let wake = (): void => {
    changed = true;
  };
  const onChange = (): void => {
    wake();
  };
  let stopWatching = (): void => {
    stopped = true;
  };
  leases.watch?.(cacheKey, onChange).then(
    stop => {
      if (stopped) return stop();
      stopWatching = stop;
      interval = POLL_INTERVAL.watched;
      // Poll once for a change that came before we listened.
      onChange();
    },
    () => undefined,
  );
  return {
    async next(ms) {
      if (!changed) {
        await new Promise<void>(resolve => {
          // The lease expires a moment after its last whole millisecond.
          const pause = Number.isNaN(ms) ? interval : Math.max(SHORTEST_PAUSE, Math.min(ms + 1, interval));
          const timer = setTimeout(resolve, pause);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = () => {
          changed = true;
        };
      }
      changed = false;
    },
    stop() {
      stopWatching();
    },
  };
}
