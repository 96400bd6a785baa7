import type { LeaseStore } from './lease-store';

/**
 * Milliseconds between two polls of one key. Notifications make it faster; polls find what none has told: the end of a
 * lease, or a change whose notification was lost.
 */
const POLL = 100;

/** Milliseconds until a waiter asks again after a change: a store may notify of each question that it is asked. */
const PAUSE = 25;

const waitersOf = new WeakMap<LeaseStore, Map<string, Waiters>>();

/** Returns the requests that wait for a key; the caller is one of them, until it leaves. */
export function joinWaiters(cacheKey: string, leases: LeaseStore): Waiters {
  const byKey = waitersOf.get(leases) ?? new Map<string, Waiters>();
  waitersOf.set(leases, byKey);
  const waiters = byKey.get(cacheKey) ?? new Waiters(cacheKey, leases, () => byKey.delete(cacheKey));
  byKey.set(cacheKey, waiters);
  waiters.members++;
  return waiters;
}

/**
 * The requests of this process that wait for one key. A change wakes all of them, a poll only one, so that ten thousand
 * poll as often as one. Each asks for itself: a question that hangs or fails concerns no one else.
 */
class Waiters {
  members = 0;
  /** Number of changes that this process has heard of. */
  changes = 0;
  /** How to wake those that sleep, and whether they are gone; who has slept longest comes first. */
  private readonly sleepers = new Map<() => void, () => boolean>();
  private readonly polls = setInterval(this.poll.bind(this), POLL);
  private readonly watch: Promise<unknown>;

  constructor(
    cacheKey: string,
    leases: LeaseStore,
    private readonly onEmpty: () => void,
  ) {
    const watch = async (): Promise<unknown> => leases.watch?.(cacheKey, this.changed.bind(this));
    this.watch = watch();
    // Without notifications, waiters poll: whatever the store does wrong here, their requests go on.
    this.watch.catch(() => undefined);
  }

  /** Wakes all: the key has changed. */
  changed(): void {
    this.changes++;
    for (const wake of this.sleepers.keys()) wake();
  }

  /**
   * Resolves when a waiter should ask: the key may have changed, it is its turn to poll, or its time is over.
   * @param seen the number of changes that it knows of: one that came before the call is not lost.
   * @param ms milliseconds that it waits at most.
   * @param isGone whether it need not ask any more.
   */
  next(seen: number, ms: number, isGone: () => boolean): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer);
        this.sleepers.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, seen === this.changes ? Math.ceil(ms) : PAUSE);
      this.sleepers.set(wake, isGone);
    });
  }

  leave(): void {
    if (--this.members > 0) return;
    this.onEmpty();
    clearInterval(this.polls);
    this.watch.then(stop => typeof stop === 'function' && (stop as () => unknown)()).catch(() => undefined);
  }

  /** Wakes one that asks, and those before it that are gone. */
  private poll(): void {
    for (const [wake, isGone] of this.sleepers) {
      wake();
      if (!isGone()) return;
    }
  }
}

/** The functions of this process that watch keys. */
export class Watchers {
  private readonly byKey = new Map<string, Set<() => void>>();

  /** @returns a function that ends this watch, and tells whether it was the last of its key. */
  add(key: string, onChange: () => void): () => boolean {
    const watchers = this.byKey.get(key) ?? new Set();
    const watcher = onChange.bind(undefined);
    this.byKey.set(key, watchers.add(watcher));
    return () => watchers.delete(watcher) && watchers.size === 0 && this.byKey.delete(key);
  }

  notify(key: string): void {
    for (const watcher of [...(this.byKey.get(key) ?? [])]) watcher();
  }
}
