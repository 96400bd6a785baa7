import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import type { ProblemCode } from '../../problems/catalogue';
import { afterRunning } from './running-time';
import type { Unanswered } from './unanswered';

const CHECK_STORE = 'Check the store and its connection.';

/** A store failed, did not answer in time, or was not called because it has not answered earlier calls. */
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
    readonly remedy = CHECK_STORE,
    cause?: unknown,
  ) {
    const reason = types.isNativeError(cause) ? cause.message : String(cause);
    super(`${cause === undefined ? what : `${what}: ${reason}`}. ${remedy}`, { cause });
  }
}

/** What happens after a call was given up. */
interface GivenUp<T> {
  /**
   * Called with an answer that comes after that time; a client that queues commands while it is disconnected carries
   * them out much later.
   */
  readonly onLate?: (answer: T) => void;
  /** The calls of the same store that were given up. */
  readonly unanswered?: Unanswered;
}

/** Milliseconds between two tries of a call that failed. */
const RETRY_PAUSE = 25;

/**
 * Calls a store until it answers, for at most `ms` milliseconds in all. A failed call is tried again, since every call
 * to a store may be repeated without harm: the first one may have been carried out and only its answer lost.
 * @param name names the call in errors, for example `acquire() of the lease store`.
 * @returns the answer; a promise only if the store does not answer at once, as one in memory does.
 * @throws StoreUnavailable
 */
export function callStore<T>(
  name: string,
  call: () => T | Promise<T>,
  ms: number,
  givenUp: GivenUp<T> = {},
): T | Promise<T> {
  const { unanswered } = givenUp;
  if (unanswered?.allowsCall() === false)
    return Promise.reject(
      new StoreUnavailable(
        `${name} was not called, because ${unanswered.count} earlier calls of the store are unanswered`,
      ),
    );
  const first = callOnce(call);
  return mayBePromise(first) ? untilItAnswers(name, first, call, ms, givenUp) : first;
}

function callOnce<T>(call: () => T | Promise<T>): T | Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Returns true for a promise of any library. Does not read its `then`, which may throw: then the call is repeated. */
const mayBePromise = <T>(answer: T | Promise<T>): answer is Promise<T> =>
  typeof answer === 'object' && answer !== null && 'then' in answer;

function untilItAnswers<T>(
  name: string,
  first: Promise<T>,
  call: () => T | Promise<T>,
  ms: number,
  { onLate, unanswered }: GivenUp<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let isAnswered = false;
    let failure: unknown;
    const stop = afterRunning(ms, () => {
      isOver = true;
      if (!isAnswered) unanswered?.add();
      const what = failure === undefined ? `did not answer within ${ms} ms` : `failed for ${ms} ms`;
      reject(new StoreUnavailable(`${name} ${what} (storeTimeout)`, undefined, failure));
    });
    const answered = (answer: T): void => {
      stop();
      if (isOver) {
        unanswered?.remove();
        onLate?.(answer);
        return;
      }
      unanswered?.clear();
      resolve(answer);
    };
    const failed = async (error: unknown): Promise<void> => {
      if (isOver) unanswered?.remove();
      isAnswered = true;
      failure = error;
      await pause(RETRY_PAUSE);
      if (isOver) return;
      isAnswered = false;
      await Promise.resolve(callOnce(call)).then(answered, failed);
    };
    // The store may return a thenable that is not a native promise.
    void Promise.resolve(first).then(answered, failed);
  });
}
