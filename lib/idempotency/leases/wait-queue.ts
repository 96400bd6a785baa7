import { whenDone, type Awaitable } from '../../basics/awaitable';
import type { Acquisition, LeaseStore } from './lease-store';

/** How often a queue polls, in milliseconds. Notifications make it fast; polling covers a lost notification. */
const POLL_INTERVAL = { watched: 1_000, unwatched: 100 };

/**
 * Milliseconds between two polls, at least: of a lease that never expires, or has just expired, the store may answer
 * that no time is left.
 */
const SHORTEST_PAUSE = 25;

/** The answer of the lease store. `asked` is the time of the question, in milliseconds of the monotonic clock. */
export type Answer =
  (Acquisition & { readonly kind: 'running' | 'done' }) | { readonly kind: 'acquired'; readonly asked: number };

/** A request that waits for the end of the run that has the lease. */
export interface Waiter {
  /** When it gives up, in milliseconds of the monotonic clock. */
  readonly deadline: number;
  /** Asks the lease store for the right to run. */
  ask(): Awaitable<Answer>;
  /** Returns true if it goes on waiting after this answer, which another waiter may have got. */
  waitsAfter(answer: Answer): boolean;
}

/** A waiter in its queue. */
interface Waiting extends Waiter {
  readonly leave: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

const queues = new WeakMap<LeaseStore, Map<string, WaitQueue>>();

/**
 * Waits until the lease store answers something else than that another request runs, or until the deadline.
 * @param msLeft milliseconds that the lease had left when the waiter asked.
 * @returns the last answer. @throws what asking throws.
 */
export function waitInQueue(cacheKey: string, leases: LeaseStore, waiter: Waiter, msLeft: number): Promise<Answer> {
  const ofStore = queues.get(leases) ?? new Map<string, WaitQueue>();
  queues.set(leases, ofStore);
  const queue = ofStore.get(cacheKey) ?? new WaitQueue(cacheKey, leases, () => ofStore.delete(cacheKey));
  ofStore.set(cacheKey, queue);
  return queue.join(waiter, msLeft);
}

/**
 * The requests of this process that wait for one key. The first one asks the lease store for all, so that ten thousand
 * of them ask no more often than one. If it gets the lease, it leaves to run, and the others stay; any other answer is
 * the answer to all who were there when it was asked for.
 */
class WaitQueue {
  private readonly waiting = new Set<Waiting>();
  private interval = POLL_INTERVAL.unwatched;
  private timer: NodeJS.Timeout | undefined;
  /** When the timer fires, in milliseconds of the monotonic clock. */
  private due = Infinity;
  private isAsking = false;
  /** Milliseconds to the next question after the answer that is under way, if that one may be out of date. */
  private askAgainIn: number | undefined;
  private stopWatching = (): void => undefined;

  /** @param end called when the last waiter has left. */
  constructor(
    cacheKey: string,
    leases: LeaseStore,
    private readonly end: () => void,
  ) {
    // Without notifications, the queue polls: whatever a store does wrong here, its requests go on.
    this.watch(cacheKey, leases).catch(() => undefined);
  }

  join(waiter: Waiter, msLeft: number): Promise<Answer> {
    return new Promise((leave, fail) => {
      this.waiting.add({ ...waiter, leave, fail });
      // An answer that is under way may be older than the one that this waiter has had.
      if (this.isAsking) this.askAgainIn = 0;
      else this.askWithin(Math.min(msLeft, waiter.deadline - performance.now()));
    });
  }

  private async watch(cacheKey: string, leases: LeaseStore): Promise<void> {
    const stop: unknown = await leases.watch?.(cacheKey, () => {
      this.noticeChange();
    });
    if (typeof stop !== 'function') return;
    this.interval = POLL_INTERVAL.watched;
    this.stopWatching = () => {
      void Promise.resolve()
        .then(stop as () => void)
        .catch(() => undefined);
    };
    if (this.waiting.size === 0) this.stopWatching();
    // For a change that came before we listened.
    else this.noticeChange();
  }

  private noticeChange(): void {
    // A store that notifies of the question itself must not keep the process busy.
    if (this.isAsking) this.askAgainIn ??= SHORTEST_PAUSE;
    else
      queueMicrotask(() => {
        this.ask();
      });
  }

  private askWithin(ms: number): void {
    // The lease expires a moment after its last whole millisecond.
    const pause = Number.isNaN(ms) ? this.interval : Math.max(SHORTEST_PAUSE, Math.min(ms + 1, this.interval));
    const due = performance.now() + pause;
    if (due >= this.due) return;
    clearTimeout(this.timer);
    this.due = due;
    this.timer = setTimeout(() => {
      this.ask();
    }, pause);
  }

  private ask(): void {
    const asking = [...this.waiting];
    const [first] = asking;
    if (!first || this.isAsking) return;
    clearTimeout(this.timer);
    this.due = Infinity;
    this.isAsking = true;
    whenDone(
      () => first.ask(),
      answer => {
        const leaving = answer.kind === 'acquired' ? [first] : asking.filter(one => !one.waitsAfter(answer));
        for (const one of leaving) one.leave(answer);
        this.goOnWithout(leaving, answer.kind === 'running' ? answer.msLeft : Infinity);
      },
      error => {
        for (const one of asking) one.fail(error);
        this.goOnWithout(asking, Infinity);
      },
    );
  }

  private goOnWithout(left: readonly Waiting[], msLeft: number): void {
    for (const one of left) this.waiting.delete(one);
    const { askAgainIn = Infinity } = this;
    this.isAsking = false;
    this.askAgainIn = undefined;
    if (this.waiting.size === 0) {
      this.end();
      this.stopWatching();
      return;
    }
    let deadline = Infinity;
    for (const one of this.waiting) deadline = Math.min(deadline, one.deadline);
    if (askAgainIn === 0) this.ask();
    else this.askWithin(Math.min(msLeft, askAgainIn, deadline - performance.now()));
  }
}
