import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { Acquisition, LeaseStore } from '../idempotency/leases/lease-store';
import type { RunFacts } from '../idempotency/leases/runs';
import type { Store } from '../idempotency/stores/store';
import { FREE, play, type Answer, type LeaseState, type Move, type Step } from './lease-model';

/** Milliseconds: nothing expires while a fact is tried. */
export const LONG = 60_000;

/** Two views of the same data, as two processes have them; the same object twice if the store is for one process. */
interface Views<S> {
  readonly one: S;
  readonly other: S;
  /** Called after the last test. */
  close?(): unknown;
}

export type LeaseStoreUnderTest = Views<LeaseStore>;

export interface StoreUnderTest extends Views<Store> {
  /** For a store with `commit`: runs its statement in a transaction of its own. @returns its rows. */
  execute?(text: string, values: string[]): Promise<readonly unknown[]>;
}

/** One of two processes. */
export type View = 'one' | 'other';

/**
 * One promise of the contract, tried on a key that was never used. Notes each call with its answer: every failure names
 * the promise and the calls that led to it.
 */
export class Trial {
  readonly calls: string[] = [];

  /** @param keepUnknown milliseconds that leases are acquired with. */
  constructor(
    private readonly promise: string,
    readonly stores: LeaseStoreUnderTest,
    readonly keepUnknown?: number,
    readonly key: string = randomUUID(),
  ) {}

  /** What is to be tried: leases alone, and with `keepUnknown` if the store can settle what is unknown. */
  get modes(): readonly Trial[] {
    return this.stores.one.settle ? [this, this.again(LONG)] : [this];
  }

  /** Returns a trial of the same promise, on another key. */
  again(keepUnknown = this.keepUnknown, key?: string): Trial {
    return new Trial(this.promise, this.stores, keepUnknown, key);
  }

  /** Takes a step. */
  async take(view: View, step: Step, ms = LONG): Promise<boolean | Acquisition> {
    const [method, ...args] = this.callOf(step, ms);
    const store = this.stores[view] as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
    if (!store[method]) throw new TypeError(`The lease store has no method ${method}. Add it.`);
    const answer = await store[method](this.key, ...args);
    this.calls.push(`${view}.${method}(${[this.key, ...args].map(shown).join(', ')}) → ${shown(answer)}`);
    return answer as boolean | Acquisition;
  }

  /** Takes a step. @returns its answer, without the milliseconds that are left. */
  async answerTo(view: View, step: Step, ms = LONG): Promise<Answer> {
    const answer = await this.take(view, step, ms);
    if (typeof answer !== 'object') return answer;
    // A row of a database may have another prototype.
    const { kind, token } = Object(answer) as { kind: Acquisition['kind']; token?: string };
    return kind === 'acquired' ? { kind } : { kind, token };
  }

  async expect(expected: Answer, view: View, step: Step, ms = LONG): Promise<void> {
    this.equal(await this.answerTo(view, step, ms), expected, 'The last call answered');
  }

  equal(found: unknown, expected: unknown, what: string): void {
    if (!isDeepStrictEqual(found, expected)) this.fail(`${what} ${shown(found)}`, shown(expected));
  }

  fail(found: string, expected: string): never {
    const calls = this.calls.length > 12 ? ['…', ...this.calls.slice(-12)] : this.calls;
    const lines = [`${this.promise}.`, `${found}; expected ${expected}.`, 'Calls:', ...calls];
    throw new AssertionError({ message: `The store breaks a promise: ${lines.join('\n  ')}` });
  }

  /** Returns the method that takes a step, and its arguments after the key. */
  private callOf({ step, token }: Step, ms: number): [method: string, ...args: unknown[]] {
    const { keepUnknown } = this;
    if (step === 'ran' || step === 'did-not-run') return ['settle', token, step, ms];
    if (step === 'release') return [step, token];
    if (step !== 'acquire' || keepUnknown === undefined) return [step, token, ms];
    return [step, token, ms, { keepUnknown, method: 'POST', path: '/', created: 0 } satisfies RunFacts];
  }
}

/** Describes a key, a token or an answer for a message. */
const shown = (value: unknown): string => inspect(value, { breakLength: Infinity, maxStringLength: 200, depth: 5 });

/** Asks who holds the key, at the end of each sequence. */
export const ASK: Step = { step: 'acquire', token: 'd' };

/** Keys that are tried at one time: most of the time, they wait. */
const AT_ONCE = 40;

/** Plays each, and throws the first failure when nothing uses the store any more. */
export async function playAll<T>(all: Iterable<T>, playOne: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const player = async (): Promise<void> => {
    for (let one = left.pop(); one; one = left.pop()) await playOne(one);
  };
  const players = await Promise.allSettled(Array.from({ length: AT_ONCE }, player));
  for (const result of players) if (result.status === 'rejected') throw result.reason;
}

/**
 * Plays moves on the key of a trial, in two views by turns, asks who holds it, and compares each answer with the model.
 * @param wait milliseconds after which what was stored for a short time has expired.
 * @param times the milliseconds of each move.
 */
export async function playSequence(
  trial: Trial,
  moves: readonly Move[],
  wait = 0,
  times: number[] = [],
): Promise<void> {
  let state: LeaseState = FREE;
  for (const [index, move] of [...moves, ASK].entries()) {
    const [expected, next] = play(state, move, trial.keepUnknown !== undefined);
    state = next;
    if (wait > 0 && (move.step === 'expire' || move === ASK)) await pause(wait);
    if (move.step === 'expire') trial.calls.push('what is stored expires');
    else await trial.expect(expected, index % 2 ? 'other' : 'one', move, times[index]);
  }
}
