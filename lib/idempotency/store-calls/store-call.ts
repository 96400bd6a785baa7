import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { isThenable, type Awaitable } from '../../basics/awaitable';
import type { ProblemCode } from '../../problems/catalogue';

/** A store failed, did not answer in time, or was not called because too many responses wait for it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** For the application: the code of the problem that requests are refused with. */
  readonly code = 'store-unavailable' satisfies ProblemCode;

  /**
   * @param what tells what has happened.
   * @param remedy tells what to do.
   * @param cause the error of the call, or one that the store has reported otherwise.
   */
  constructor(
    readonly what: string,
    readonly remedy = 'Check the store and its connection.',
    cause?: unknown,
  ) {
    const reason = types.isNativeError(cause) ? cause.message : String(cause);
    super(`${cause === undefined ? what : `${what}: ${reason}`}. ${remedy}`, { cause });
  }
}

/** The error of a call that did not answer in its time. */
export const TIMED_OUT = new Error('It did not answer in its time');

/** Milliseconds from a call that failed to its repetition. */
const RETRY_PAUSE = 25;

/**
 * Calls a store, for at most `ms` milliseconds in all. A call that fails is made once more, since every call to a store
 * may be repeated without harm: the first one may have been carried out and only its answer lost.
 * @param name names the call in errors, for example `acquire() of the lease store`.
 * @param undo called if the call fails, and when its answer comes after the time: a client that queues commands while
 * it is disconnected carries them out much later.
 * @returns the answer; a promise only if the store does not answer at once, as one in memory does.
 * @throws StoreUnavailable
 */
export function callStore<T>(name: string, call: () => Awaitable<T>, ms: number, undo?: () => unknown): Awaitable<T> {
  let first: Awaitable<T>;
  try {
    first = call();
    // A promise of any library. (Its `then` may throw: then the call is repeated.)
    if (!isThenable(first)) return first;
  } catch (error) {
    first = Promise.reject(asError(error));
  }
  const deadline = performance.now() + ms;
  let failure: unknown;
  const answer = async (): Promise<T> => {
    try {
      return await first;
    } catch (error) {
      failure = error;
    }
    await pause(RETRY_PAUSE);
    if (performance.now() >= deadline) throw failure;
    return call();
  };
  return withinTime(answer(), ms, undo).catch((error: unknown) => {
    undo?.();
    throw error === TIMED_OUT
      ? new StoreUnavailable(`${name} did not answer within ${Math.ceil(ms)} ms (storeTimeout)`, undefined, failure)
      : new StoreUnavailable(`${name} failed`, undefined, error);
  });
}

/**
 * Waits for an answer for at most `ms` milliseconds. Node calls timers before it reads sockets, so after this process
 * has stood still, the answer may be there although its time is over: the sockets are read first.
 * @param onLate called when an answer comes after that.
 * @throws TIMED_OUT, or the error of the call.
 */
export function withinTime<T>(answer: Awaitable<T>, ms: number, onLate?: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const giveUp = (): void => {
      isOver = true;
      reject(TIMED_OUT);
    };
    const timer = setTimeout(setImmediate, Math.max(0, ms), giveUp);
    const use = (value: T): void => {
      clearTimeout(timer);
      if (isOver) onLate?.();
      else resolve(value);
    };
    // Not chained: the `then` of a library that traces promises may return nothing.
    void Promise.resolve(answer).then(use, (error: unknown) => {
      clearTimeout(timer);
      reject(asError(error));
    });
  });
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
