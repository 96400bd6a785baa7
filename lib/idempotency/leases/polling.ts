import type { LeaseStore } from './lease-store';

/** How often a key is polled, in milliseconds. Notifications make it fast; polling covers a lost notification. */
const INTERVAL = { watched: 1_000, unwatched: 100 };

/**
 * Milliseconds of each sleep, at least, unless a notification ends it: of a lease that never expires, or has just
 * expired, the store may answer that no time is left.
 */
const SHORTEST_SLEEP = 25;

/** A waiter that sleeps. */
export interface Sleeper {
  wake(): void;
  isGone(): boolean;
}

const pollings = new WeakMap<LeaseStore, Map<string, Polling>>();

/** Returns the polling of a key, which is shared by those who wait for it in this process. */
export function pollingOf(cacheKey: string, leases: LeaseStore): Polling {
  const ofStore = pollings.get(leases) ?? new Map<string, Polling>();
  pollings.set(leases, ofStore);
  const polling = ofStore.get(cacheKey) ?? new Polling(() => ofStore.delete(cacheKey));
  ofStore.set(cacheKey, polling);
  return polling;
}

/**
 * The waiters of one key take turns in polling, so that ten thousand of them poll as often as one. Each asks for itself
 * when it is its turn: a question that hangs or fails concerns no one else.
 */
class Polling {
  /** True if changes of the key are notified. */
  isWatched = false;
  private members = 0;
  /** In the order in which they fell asleep: that of their turns. */
  private readonly sleepers = new Set<Sleeper>();
  private timer: NodeJS.Timeout | undefined;
  /** When the next turn is, in milliseconds of the monotonic clock. */
  private nextTurn = Infinity;

  /** @param end called when the last member has left. */
  constructor(private readonly end: () => void) {}

  join(): void {
    this.members++;
  }

  leave(): void {
    this.members--;
    if (this.members === 0) this.end();
  }

  /**
   * @param woken called when the sleeper wakes: it is woken, or it is its turn, or its time is over.
   * @param msLeft milliseconds that the lease has left; one waiter asks then.
   * @param ms milliseconds of the sleep, at most.
   */
  sleep(woken: () => void, isGone: () => boolean, msLeft: number, ms: number): Sleeper {
    const timer = setTimeout(
      () => {
        sleeper.wake();
      },
      Math.max(SHORTEST_SLEEP, ms),
    );
    const sleeper: Sleeper = {
      isGone,
      wake: () => {
        clearTimeout(timer);
        this.sleepers.delete(sleeper);
        if (this.sleepers.size === 0) this.cancelTurn();
        woken();
      },
    };
    this.sleepers.add(sleeper);
    // The lease expires a moment after its last whole millisecond. An application's own lease store may not tell it.
    this.takeTurnWithin(Number.isFinite(msLeft) ? msLeft + 1 : Infinity);
    return sleeper;
  }

  wakeAll(): void {
    for (const sleeper of this.sleepers) sleeper.wake();
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
