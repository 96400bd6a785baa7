import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import type { Awaitable } from '../../basics/awaitable';
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

/** A call did not answer in its time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Milliseconds from a call that failed to its repetition. */
const RETRY_PAUSE = 25;

/**
 * Calls a store, for at most `ms` milliseconds in all. A call that fails is made once more, since every call to a store
 * may be repeated without harm: the first one may have been carried out and only its answer lost.
 * @param name names the call in errors, for example `acquire() of the lease store`.
 * @param onLate called with an answer that comes after the time: a client that queues commands while it is disconnected
 * carries them out much later.
 * @returns the answer; a promise only if the store does not answer at once, as one in memory does.
 * @throws StoreUnavailable
 */
export function callStore<T>(
  name: string,
  call: () => Awaitable<T>,
  ms: number,
  onLate?: (answer: T) => void,
): Awaitable<T> {
  let first: Awaitable<T>;
  try {
    first = call();
  } catch (error) {
    first = Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
  return mayBePromise(first) ? answerInTime(name, first, call, ms, onLate) : first;
}

/** Returns true for a promise of any library. Does not read its `then`, which may throw: then the call is repeated. */
const mayBePromise = <T>(answer: Awaitable<T>): answer is Promise<T> =>
  typeof answer === 'object' && answer !== null && 'then' in answer;

async function answerInTime<T>(
  name: string,
  first: Promise<T>,
  call: () => Awaitable<T>,
  ms: number,
  onLate?: (answer: T) => void,
): Promise<T> {
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
  try {
    return await withinTime(answer(), ms, onLate);
  } catch (error) {
    throw error instanceof TimedOut
      ? new StoreUnavailable(`${name} did not answer within ${Math.ceil(ms)} ms (storeTimeout)`, undefined, failure)
      : new StoreUnavailable(`${name} failed`, undefined, error);
  }
}

/**
 * Waits for an answer for at most `ms` milliseconds. Node calls timers before it reads sockets, so after this process
 * has stood still, the answer may be there although its time is over: the sockets are read first.
 * @param onLate called with an answer that comes after that.
 * @throws TimedOut, or the error of the call.
 */
export function withinTime<T>(answer: Awaitable<T>, ms: number, onLate?: (answer: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    let isOver = false;
    const giveUp = (): void => {
      isOver = !isSettled;
      reject(new TimedOut(`No answer within ${ms} ms`));
    };
    const timer = setTimeout(setImmediate, ms, giveUp);
    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
    };
    // Not chained: the `then` of a library that traces promises may return nothing.
    void Promise.resolve(answer).then(
      value => {
        settle();
        if (isOver) onLate?.(value);
        else resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
