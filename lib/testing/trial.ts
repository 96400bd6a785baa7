import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual, inspect } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import type { Acquisition, LeaseStore } from '../idempotency/leases/lease-store';

/** Milliseconds: nothing expires while a fact is tried. */
export const LONG = 60_000;
/** Milliseconds for something that has to happen soon. */
const PATIENCE = 10_000;

/** A promise of the contract, and how to try whether a store keeps it. */
export type Fact = readonly [promise: string, holds: (trial: Trial) => Promise<void>];

/** Two views of the same data, as two processes have them; the same object twice if the store is for one process. */
export interface TwoViews {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
}

const METHODS = ['acquire', 'renew', 'complete', 'release'] as const;

/** @throws TypeError for a store, of a program without types, that lacks a method which is not optional. */
export function requireMethods(store: LeaseStore): void {
  const missing = METHODS.filter(name => typeof (store as Partial<LeaseStore>)[name] !== 'function');
  if (missing.length > 0)
    throw new TypeError(
      `The lease store has no method ${missing.join(' and no method ')}. ` +
        'Add what is missing: each has acquire, renew, complete and release.',
    );
}

/** One key of a store, as one process sees it. Notes each call with its answer, for the message of a failure. */
export class KeyView {
  constructor(
    private readonly store: LeaseStore,
    private readonly name: string,
    private readonly key: string,
    private readonly calls: string[],
  ) {}

  /** @throws AssertionError if the store answers something else than an Acquisition. */
  async acquire(token: string, ms: number): Promise<Acquisition> {
    const answer = (await this.store.acquire(this.key, token, ms)) as Acquisition | undefined;
    this.note('acquire', [token, ms], answer);
    if (answer && ['acquired', 'running', 'done'].includes(answer.kind)) return answer;
    throw broken(`acquire answers { kind: 'acquired' or 'running' or 'done', … }, not ${shown(answer)}.`);
  }

  async renew(token: string, ms: number): Promise<boolean> {
    return this.note('renew', [token, ms], await this.store.renew(this.key, token, ms));
  }

  async complete(token: string, ms: number): Promise<boolean> {
    return this.note('complete', [token, ms], await this.store.complete(this.key, token, ms));
  }

  async release(token: string): Promise<boolean> {
    return this.note('release', [token], await this.store.release(this.key, token));
  }

  /** @throws Error for a store without `watch`. */
  async watch(onChange: () => void): Promise<() => void> {
    if (!this.store.watch)
      throw new Error('The store has no watch(), which is optional. Pass { watches: false } to leave its facts out.');
    return this.note('watch', [], await this.store.watch(this.key, onChange));
  }

  private note<T>(method: string, args: readonly unknown[], answer: T): T {
    this.calls.push(`${this.name}.${method}(${[this.key, ...args].map(shown).join(', ')}) → ${shown(answer)}`);
    return answer;
  }
}

/** One fact, tried on a key that was never used. Every failure names the promise and the calls that led to it. */
export class Trial {
  readonly one: KeyView;
  readonly other: KeyView;
  readonly calls: string[] = [];

  constructor(
    private readonly promise: string,
    private readonly stores: TwoViews,
    readonly key: string = randomUUID(),
  ) {
    ({ one: this.one, other: this.other } = this.at(''));
  }

  /** Returns the views of the key that has `suffix` at its end. */
  at(suffix: string): { readonly one: KeyView; readonly other: KeyView } {
    const { stores, calls } = this;
    const key = `${this.key}${suffix}`;
    return { one: new KeyView(stores.one, 'one', key, calls), other: new KeyView(stores.other, 'other', key, calls) };
  }

  /** Returns a trial of the same fact, on another key. */
  again(): Trial {
    return new Trial(this.promise, this.stores);
  }

  /** Compares an answer without its time. */
  answers(answer: boolean | Acquisition | undefined, expected: unknown): void {
    const plain = withoutTime(answer);
    this.holds(isDeepStrictEqual(plain, expected), `The last call answered ${shown(answer)}`, shown(expected));
  }

  holds(isKept: boolean, found: string, expected: string): void {
    if (isKept) return;
    const calls = this.calls.length > 12 ? ['…', ...this.calls.slice(-12)] : this.calls;
    throw broken([`${this.promise}.`, `${found}; expected ${expected}.`, 'Calls:', ...calls].join('\n  '));
  }

  /** Waits until a watcher was notified. */
  async notified(change: Promise<void>): Promise<void> {
    const stop = new AbortController();
    const late = pause(PATIENCE, true, { signal: stop.signal }).catch(() => false);
    const isLate = await Promise.race([change.then(() => false), late]);
    stop.abort();
    this.holds(!isLate, `onChange was not called within ${PATIENCE} ms`, 'a call');
  }
}

/** Returns a plain object (a row of a database may have another prototype) without the milliseconds that are left. */
export function withoutTime(answer: boolean | Acquisition | undefined): boolean | object | undefined {
  if (typeof answer !== 'object') return answer;
  return answer.kind === 'acquired' ? { kind: answer.kind } : { kind: answer.kind, token: answer.token };
}

function broken(promise: string): AssertionError {
  return new AssertionError({ message: `The lease store breaks a promise: ${promise}`, stackStartFn: broken });
}

/** Describes a key, a token or an answer for a message. */
function shown(value: unknown): string {
  const text = inspect(value, { breakLength: Infinity });
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
