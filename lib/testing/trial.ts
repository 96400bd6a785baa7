import { AssertionError } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { Acquisition, LeaseStore } from '../idempotency/leases/lease-store';
import { FREE, play, STEPS, type Answer, type Move, type Step } from './lease-model';

/** Milliseconds: nothing expires while a fact is tried. */
export const LONG = 60_000;
/** Milliseconds for something that has to happen soon. */
const PATIENCE = 10_000;

/** Two views of the same data, as two processes have them; the same object twice if the store is for one process. */
export interface TwoViews {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
}

/** One of two processes. */
export type View = keyof TwoViews;

/**
 * One promise of the contract, tried on a key that was never used. Notes each call with its answer: every failure names
 * the promise and the calls that led to it.
 */
export class Trial {
  constructor(
    private readonly promise: string,
    private readonly stores: TwoViews,
    readonly key: string = randomUUID(),
    readonly calls: string[] = [],
  ) {}

  /** Returns a trial of the same promise, on another key. */
  again(): Trial {
    return new Trial(this.promise, this.stores);
  }

  /** Returns a part of this trial, on the key that has `suffix` at its end. */
  at(suffix: string): Trial {
    return new Trial(this.promise, this.stores, `${this.key}${suffix}`, this.calls);
  }

  /** Takes a step. @throws AssertionError if `acquire` answers something else than an Acquisition. */
  async take(view: View, { step, token }: Step, ms = LONG): Promise<boolean | Acquisition> {
    const { [view]: store } = this.stores;
    const answer = await (step === 'release' ? store.release(this.key, token) : store[step](this.key, token, ms));
    this.note(view, step, step === 'release' ? [token] : [token, ms], answer);
    const { kind } = Object(answer) as Acquisition;
    if (step !== 'acquire' || ['acquired', 'running', 'done'].includes(kind)) return answer;
    throw broken(`acquire answers { kind: 'acquired' or 'running' or 'done', … }, not ${shown(answer)}.`);
  }

  /** Takes a step. @returns its answer, without the milliseconds that are left. */
  async answerTo(view: View, step: Step, ms = LONG): Promise<Answer> {
    const answer = await this.take(view, step, ms);
    // A row of a database may have another prototype.
    if (typeof answer !== 'object') return answer;
    return answer.kind === 'acquired' ? { kind: answer.kind } : { kind: answer.kind, token: answer.token };
  }

  async expect(expected: Answer, view: View, step: Step, ms = LONG): Promise<void> {
    const answer = await this.answerTo(view, step, ms);
    this.holds(isDeepStrictEqual(answer, expected), `The last call answered ${shown(answer)}`, shown(expected));
  }

  /** @throws Error for a store without `watch`. */
  async watch(view: View, onChange: () => void): Promise<() => void> {
    const stop = await this.stores[view].watch?.(this.key, onChange);
    if (!stop)
      throw new Error('The store has no watch(), which is optional. Pass { watches: false } to leave its facts out.');
    this.note(view, 'watch', [], stop);
    return stop;
  }

  holds(isKept: boolean, found: string, expected: string): void {
    if (isKept) return;
    const calls = this.calls.length > 12 ? ['…', ...this.calls.slice(-12)] : this.calls;
    throw broken([`${this.promise}.`, `${found}; expected ${expected}.`, 'Calls:', ...calls].join('\n  '));
  }

  /** Waits until watchers were notified. */
  async notified(isHeard: () => boolean): Promise<void> {
    for (const end = performance.now() + PATIENCE; !isHeard() && performance.now() < end;) await pause(5);
    this.holds(isHeard(), `onChange was not called within ${PATIENCE} ms`, 'a call');
  }

  private note(view: View, method: string, args: readonly unknown[], answer: unknown): void {
    this.calls.push(`${view}.${method}(${[this.key, ...args].map(shown).join(', ')}) → ${shown(answer)}`);
  }
}

function broken(promise: string): AssertionError {
  return new AssertionError({ message: `The lease store breaks a promise: ${promise}`, stackStartFn: broken });
}

/** Describes a key, a token or an answer for a message. */
const shown = (value: unknown): string => inspect(value, { breakLength: Infinity, maxStringLength: 200 });

/** @throws TypeError for a store, of a program without types, that lacks a method which is not optional. */
export function trialOf(promise: string, stores: TwoViews): Trial {
  const both: readonly Partial<LeaseStore>[] = [stores.one, stores.other];
  const missing = STEPS.filter(name => both.some(store => typeof store[name] !== 'function'));
  if (missing.length === 0) return new Trial(promise, stores);
  throw new TypeError(
    `The lease store has no method ${missing.join(' and no method ')}. ` +
      'Add what is missing: each has acquire, renew, complete and release.',
  );
}

/** Asks who holds the key, at the end of each sequence. */
export const ASK: Step = { step: 'acquire', token: 'd' };

/** Plays each, so many at one time. Ends with the first failure, when nothing uses the store any more. */
export async function playAll<T>(all: Iterable<T>, atOnce: number, playOne: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const player = async (): Promise<void> => {
    try {
      for (let one = left.pop(); one; one = left.pop()) await playOne(one);
    } finally {
      left.length = 0;
    }
  };
  const players = await Promise.allSettled(Array.from({ length: atOnce }, player));
  for (const result of players) if (result.status === 'rejected') throw result.reason;
}

/**
 * Plays moves on the key of a trial, in two views by turns, asks who holds it, and compares each answer with the model.
 * @param before lets time pass before a move, if it is one that needs that.
 * @param times the milliseconds of each move.
 */
export async function playSequence(
  trial: Trial,
  moves: readonly Move[],
  before: (move: Move) => unknown,
  times: readonly number[] = [],
): Promise<void> {
  let state = FREE;
  for (const [index, move] of [...moves, ASK].entries()) {
    const [expected, next] = play(state, move);
    state = next;
    await before(move);
    if (move.step === 'expire') trial.calls.push('what is stored expires');
    else await trial.expect(expected, index % 2 ? 'other' : 'one', move, times[index]);
  }
}
