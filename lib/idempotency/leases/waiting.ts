import type { LeaseStore } from './lease-store';

/** How often a key is polled, in milliseconds. Notifications make it fast; polling covers a lost notification. */
const INTERVAL = { watched: 1_000, unwatched: 100 };

/**
 * Milliseconds of each sleep, at least, unless a notification ends it: of a lease that never expires, or has just
 * expired, the store may answer that no time is left.
 */
const SHORTEST_SLEEP = 25;

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

/** A waiter that sleeps. */
interface Sleeper {
  wake(): void;
  isGone(): boolean;
}

const waitersOf = new WeakMap<LeaseStore, Map<string, Waiters>>();

/** Waits for changes of a key. @param isGone whether the waiter need not ask any more. */
export function watchForChange(cacheKey: string, leases: LeaseStore, isGone: () => boolean): ChangeWatch {
  const byKey = waitersOf.get(leases) ?? new Map<string, Waiters>();
  waitersOf.set(leases, byKey);
  const waiters = byKey.get(cacheKey) ?? new Waiters(cacheKey, leases);
  byKey.set(cacheKey, waiters);
  // A change may have come between the answer of the store and this call, so the first question follows soon.
  let seen = waiters.join() ? -1 : waiters.changes;
  return {
    async next(leaseMsLeft, maxWaitMs) {
      // Pauses even after a change: a store whose acquire() itself causes a notification would otherwise be asked in a
      // busy loop.
      await waiters.sleep(isGone, leaseMsLeft, seen === waiters.changes ? maxWaitMs : 0);
      seen = waiters.changes;
    },
    wakeOthers() {
      waiters.changed();
    },
    stop() {
      if (waiters.leave()) byKey.delete(cacheKey);
    },
  };
}

/**
 * The requests of this process that wait for one key. They take turns in polling, so that ten thousand of them poll as
 * often as one. Each asks for itself when it is its turn: a question that hangs or fails concerns no one else.
 */
class Waiters {
  /** Number of changes that this process has heard of. */
  changes = 0;
  private members = 0;
  private isWatched = false;
  private stopWatching: (() => unknown) | undefined;
  /** In the order in which they fell asleep: that of their turns. */
  private readonly sleepers = new Set<Sleeper>();
  private timer: NodeJS.Timeout | undefined;
  /** When the next turn is, in milliseconds of the monotonic clock. */
  private nextTurn = Infinity;

  constructor(
    private readonly cacheKey: string,
    private readonly leases: LeaseStore,
  ) {}

  /** @returns whether changes are notified by now. */
  join(): boolean {
    this.members++;
    if (this.members === 1) this.watch().catch(() => undefined);
    return this.isWatched;
  }

  /** @returns whether no one waits any more. */
  leave(): boolean {
    this.members--;
    if (this.members === 0) this.endWatch().catch(() => undefined);
    return this.members === 0;
  }

  changed(): void {
    this.changes++;
    for (const sleeper of this.sleepers) sleeper.wake();
  }

  /**
   * Resolves when the key has changed, when it is this waiter's turn, or when its time is over.
   * @param msLeft milliseconds that the lease has left; one waiter asks then.
   * @param ms milliseconds of the sleep, at most.
   */
  sleep(isGone: () => boolean, msLeft: number, ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        this.sleepers.delete(sleeper);
        if (this.sleepers.size === 0) this.cancelTurn();
        resolve();
      };
      const sleeper: Sleeper = { wake, isGone };
      const timer = setTimeout(wake, Math.max(SHORTEST_SLEEP, ms));
      this.sleepers.add(sleeper);
      // The lease expires a moment after its last whole millisecond. An application's own lease store may not tell it.
      this.takeTurnWithin(Number.isFinite(msLeft) ? msLeft + 1 : Infinity);
    });
  }

  /** Without notifications, waiters poll: whatever the store does wrong here, their requests go on. */
  private async watch(): Promise<void> {
    const stop: unknown = await this.leases.watch?.(this.cacheKey, () => {
      if (this.members > 0) this.changed();
    });
    if (typeof stop !== 'function') return;
    this.stopWatching = stop as () => unknown;
    if (this.members === 0) {
      await this.endWatch();
      return;
    }
    this.isWatched = true;
    // Lets them ask once for a change that came before we listened.
    this.changed();
  }

  private async endWatch(): Promise<void> {
    await this.stopWatching?.();
  }

  private takeTurnWithin(ms: number): void {
    const interval = this.isWatched ? INTERVAL.watched : INTERVAL.unwatched;
    const pause = Math.max(SHORTEST_SLEEP, Math.min(ms, interval));
    const turn = performance.now() + pause;
    if (turn >= this.nextTurn) return;
    this.cancelTurn();
    this.nextTurn = turn;
    this.timer = setTimeout(() => {
      this.takeTurn();
    }, pause);
  }

  private cancelTurn(): void {
    clearTimeout(this.timer);
    this.nextTurn = Infinity;
  }

  /** Wakes the next waiter, and those before it whose clients have disconnected. */
  private takeTurn(): void {
    this.nextTurn = Infinity;
    for (const sleeper of this.sleepers) {
      sleeper.wake();
      if (!sleeper.isGone()) break;
    }
    if (this.sleepers.size > 0) this.takeTurnWithin(Infinity);
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
