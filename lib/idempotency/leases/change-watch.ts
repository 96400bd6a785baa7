import type { LeaseStore } from './lease-store';
import { pollingOf, type Sleeper } from './polling';

/** One waiter's view of one key. */
interface ChangeWatch {
  /**
   * Resolves when this waiter should ask: the key may have changed, it is its turn to poll, or its time is over. A
   * change that comes before the call is not lost.
   * @param leaseMsLeft milliseconds that the lease has left.
   * @param maxWaitMs milliseconds that the waiter waits at most.
   */
  next(leaseMsLeft: number, maxWaitMs: number): Promise<void>;
  /** Wakes the other waiters of this process: the run is done. */
  wakeOthers(): void;
  stop(): void;
}

/** Watches a key. @param isGone whether the waiter need not poll any more. */
export function watchForChange(cacheKey: string, leases: LeaseStore, isGone: () => boolean): ChangeWatch {
  const polling = pollingOf(cacheKey, leases);
  polling.join();
  let isChanged = false;
  let sleeper: Sleeper | undefined;
  const notifications = new Notifications(() => {
    if (sleeper) sleeper.wake();
    else isChanged = true;
  });
  notifications.start(cacheKey, leases, polling);
  return {
    async next(leaseMsLeft, maxWaitMs) {
      // Pauses even after a change: a store whose acquire() itself causes a notification would otherwise be asked in a
      // busy loop.
      const most = isChanged ? 0 : maxWaitMs;
      isChanged = false;
      await new Promise<void>(resolve => {
        sleeper = polling.sleep(resolve, isGone, leaseMsLeft, most);
      });
      sleeper = undefined;
    },
    wakeOthers() {
      polling.wakeAll();
    },
    stop() {
      polling.leave();
      notifications.stop();
    },
  };
}

/**
 * What a store tells one waiter. Without it, waiters poll: whatever the store does wrong here, their requests go on.
 *
 * The store knows nothing else of the waiter, and its request, which may be large, is let go of when the waiter stops:
 * the store's `watch` may resolve later, or never.
 */
class Notifications {
  private stopWatching: (() => unknown) | undefined;

  constructor(private onChange: (() => void) | undefined) {}

  start(cacheKey: string, leases: LeaseStore, polling: { isWatched: boolean }): void {
    this.watch(cacheKey, leases, polling).catch(() => undefined);
  }

  stop(): void {
    this.onChange = undefined;
    void Promise.resolve(this.stopWatching)
      .then(stop => stop?.())
      .catch(() => undefined);
  }

  private async watch(cacheKey: string, leases: LeaseStore, polling: { isWatched: boolean }): Promise<void> {
    const stop: unknown = await leases.watch?.(cacheKey, () => this.onChange?.());
    if (typeof stop !== 'function') return;
    this.stopWatching = stop as () => unknown;
    if (!this.onChange) {
      this.stop();
      return;
    }
    polling.isWatched = true;
    // Asks once for a change that came before we listened.
    this.onChange();
  }
}
