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

/** Without notifications, a waiter polls: whatever a store does wrong here, its request goes on. */
async function startWatching(
  cacheKey: string,
  leases: LeaseStore,
  onChange: () => void,
): Promise<(() => void) | undefined> {
  const stop = await leases.watch?.(cacheKey, onChange);
  if (typeof stop !== 'function') return undefined;
  return () => {
    void Promise.resolve()
      .then(stop)
      .catch(() => undefined);
  };
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
  startWatching(cacheKey, leases, onChange).then(
    stop => {
      if (!stop) return;
      if (stopped) {
        stop();
        return;
      }
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
