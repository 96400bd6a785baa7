import type { LeaseStore } from './lease-store';

/** How often a key is polled, in milliseconds. Notifications make it fast; polling covers a lost notification. */
const INTERVAL = { watched: 1_000, unwatched: 100 };

/**
 * Milliseconds of each sleep, at least, unless a notification ends it: of a lease that never expires, or has just
 * expired, the store may answer that no time is left.
 */
const SHORTEST_SLEEP = 25;

const waitersOf = new WeakMap<LeaseStore, Map<string, Waiters>>();

/** Makes one waiter's view of one key. @param isGone whether the waiter need not ask any more. */
export function watchForChange(cacheKey: string, leases: LeaseStore, isGone: () => boolean) {
  const byKey = waitersOf.get(leases) ?? new Map<string, Waiters>();
  waitersOf.set(leases, byKey);
  const waiters = byKey.get(cacheKey) ?? new Waiters(cacheKey, leases);
  byKey.set(cacheKey, waiters);
  waiters.members++;
  // A change may have come between the answer of the store and this call, so the first question follows soon.
  let seen = waiters.isWatched ? -1 : waiters.changes;
  return {
    /**
     * Resolves when this waiter should ask: the key may have changed, it is its turn to poll, or its time is over. A
     * change that comes before the call is not lost.
     * @param leaseMsLeft milliseconds that the lease has left.
     * @param maxWaitMs milliseconds that the waiter waits at most.
     */
    async next(leaseMsLeft: number, maxWaitMs: number): Promise<void> {
      // Pauses even after a change: a store whose acquire() itself causes a notification would otherwise be asked in a
      // busy loop.
      const end = performance.now() + (seen === waiters.changes ? maxWaitMs : 0);
      waiters.pollWithin(leaseMsLeft);
      do await waiters.sleepUntil(end);
      while (seen === waiters.changes && performance.now() < end && !isGone() && !waiters.takeTurn());
      seen = waiters.changes;
    },
    /** Wakes the other waiters of this process: the run is done. */
    wakeOthers(): void {
      waiters.changed();
    },
    stop(): void {
      if (--waiters.members > 0) return;
      byKey.delete(cacheKey);
      waiters.endWatch();
    },
  };
}

/**
 * The requests of this process that wait for one key. Whoever wakes first after the time of a poll asks, so that ten
 * thousand of them poll as often as one. Each asks for itself: a question that hangs or fails concerns no one else.
 */
class Waiters {
  members = 0;
  /** Number of changes that this process has heard of. */
  changes = 0;
  /** True if changes are notified by now. */
  isWatched = false;
  private readonly sleepers = new Set<() => void>();
  /** When the key is to be polled, in milliseconds of the monotonic clock. */
  private nextPoll = Infinity;
  private readonly watch: Promise<unknown>;

  constructor(cacheKey: string, leases: LeaseStore) {
    this.watch = this.watchKey(cacheKey, leases);
    // Without notifications, waiters poll: whatever the store does wrong here, their requests go on.
    this.watch.catch(() => undefined);
  }

  changed(): void {
    this.changes++;
    for (const wake of this.sleepers) wake();
  }

  /** @param leaseMsLeft milliseconds that the lease has left; an application's own lease store may not tell it. */
  pollWithin(leaseMsLeft: number): void {
    // The lease expires a moment after its last whole millisecond.
    const ms = Number.isFinite(leaseMsLeft) ? Math.min(leaseMsLeft + 1, this.interval) : this.interval;
    this.nextPoll = Math.min(this.nextPoll, performance.now() + ms);
  }

  /** @returns whether it is time to poll; then the turn of the next one comes an interval later. */
  takeTurn(): boolean {
    const now = performance.now();
    if (now < this.nextPoll) return false;
    this.nextPoll = now + this.interval;
    return true;
  }

  /** Resolves when the key has changed, when it is time to poll, or at the end. */
  sleepUntil(end: number): Promise<void> {
    const ms = Math.ceil(Math.min(end, this.nextPoll) - performance.now());
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(SHORTEST_SLEEP, ms));
      this.sleepers.add(wake);
    });
  }

  endWatch(): void {
    this.watch.then(stop => typeof stop === 'function' && (stop as () => unknown)()).catch(() => undefined);
  }

  private get interval(): number {
    return this.isWatched ? INTERVAL.watched : INTERVAL.unwatched;
  }

  private async watchKey(cacheKey: string, leases: LeaseStore): Promise<unknown> {
    const stop: unknown = await leases.watch?.(cacheKey, () => {
      this.changed();
    });
    if (typeof stop !== 'function') return undefined;
    this.isWatched = true;
    this.nextPoll = Infinity;
    // Lets them ask once for a change that came before we listened.
    this.changed();
    return stop;
  }
}

/** The functions of this process that watch keys. */
export class Watchers {
  private readonly byKey = new Map<string, Set<() => void>>();

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** @returns a function that ends this watch, and no other of the same function. */
  add(key: string, onChange: () => void): () => void {
    const watchers = this.byKey.get(key) ?? new Set();
    const watcher = (): void => {
      onChange();
    };
    this.byKey.set(key, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.byKey.get(key) === watchers) this.byKey.delete(key);
    };
  }

  notify(key: string): void {
    for (const watcher of [...(this.byKey.get(key) ?? [])]) watcher();
  }
}
