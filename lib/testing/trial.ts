import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseStore } from '../idempotency/leases/lease-store';
import { Check, LONG } from './check';
import { KeyView } from './key-view';

/** Milliseconds for something that has to happen soon: the end of a short lease, a notification. */
const PATIENCE = 10_000;

/** A promise of the contract, and how to try whether a store keeps it. */
export type Fact = readonly [promise: string, holds: (trial: Trial) => Promise<void>];

/** Two views of the same data, as two processes have them; the same object twice if the store is for one process. */
export interface TwoViews {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
}

/** One fact, tried on a key that was never used. */
export class Trial {
  readonly one: KeyView;
  readonly other: KeyView;
  readonly check: Check;
  private readonly calls: string[] = [];
  private readonly key = randomUUID();

  constructor(
    private readonly promise: string,
    private readonly stores: TwoViews,
  ) {
    ({ one: this.one, other: this.other } = this.at(''));
    this.check = new Check(promise, this.calls, this.other);
  }

  /** Returns the views of the key that has `suffix` at its end. */
  readonly at = (suffix: string): { readonly one: KeyView; readonly other: KeyView } => {
    const { stores, calls } = this;
    const key = `${this.key}${suffix}`;
    return { one: new KeyView(stores.one, 'one', key, calls), other: new KeyView(stores.other, 'other', key, calls) };
  };

  /** Returns a trial of the same fact, on another key. */
  readonly again = (): Trial => new Trial(this.promise, this.stores);

  /** Tries until it succeeds, which it does when the lease or record that is there has expired. */
  readonly onceExpired = async (attempt: () => Promise<boolean>): Promise<void> => {
    const end = performance.now() + PATIENCE;
    while (!(await attempt())) {
      this.check.that(performance.now() < end, `It has not expired after ${PATIENCE} ms`, 'a lease for the next token');
      await pause(5);
    }
  };

  /** Acquires for `token` as soon as the lease or record that is there has expired. */
  readonly acquireOnceExpired = (token: string): Promise<void> =>
    this.onceExpired(async () => (await this.other.acquire(token, LONG)).kind === 'acquired');

  /** Waits until a watcher was notified. */
  readonly notified = async (change: Promise<void>): Promise<void> => {
    const stop = new AbortController();
    const late = pause(PATIENCE, true, { signal: stop.signal }).catch(() => false);
    const isLate = await Promise.race([change.then(() => false), late]);
    stop.abort();
    this.check.that(!isLate, `onChange was not called within ${PATIENCE} ms`, 'a call');
  };
}
