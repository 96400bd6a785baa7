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
  let stopped = false;
  let sleeper: Sleeper | undefined;
  const onChange = (): void => {
    if (sleeper) sleeper.wake();
    else isChanged = true;
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
      polling.isWatched = true;
      // Asks once for a change that came before we listened.
      onChange();
    },
    () => undefined,
  );
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
      stopWatching();
    },
  };
}

/** Asks the store for notifications. Without them, waiters poll: whatever it does wrong here, their requests go on. */
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
