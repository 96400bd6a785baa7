import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { afterRunning } from './running-time';
import type { Unanswered } from './unanswered';

/** A store failed, or did not answer, for the whole time that a call may take. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';

  /** True if the call has failed; false if it has not been answered. */
  readonly hasFailed: boolean;

  /**
   * @param ms milliseconds that the call was given.
   * @param failure the error of the call, if it had one.
   * @param reported the error that the store has reported otherwise, if it did: a client that is not connected does not
   * answer at all.
   */
  constructor(
    readonly ms: number,
    failure?: unknown,
    reported?: unknown,
  ) {
    const cause = failure ?? reported;
    const reason = types.isNativeError(cause) ? cause.message : String(cause);
    const what = failure === undefined ? `The store did not answer within ${ms} ms` : `The store failed for ${ms} ms`;
    super(cause === undefined ? what : `${what}: ${reason}`, { cause });
    this.hasFailed = failure !== undefined;
  }
}

/** What is to be told of a call that was given up. */
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
 * @returns the answer; a promise only if the store does not answer at once, as one in memory does.
 * @throws StoreUnavailable
 */
export function callStore<T>(call: () => T | Promise<T>, ms: number, givenUp: GivenUp<T> = {}): T | Promise<T> {
  if (givenUp.unanswered?.allowsCall() === false) return Promise.reject(new StoreUnavailable(ms));
  const first = attempt(call);
  return isThenable(first) ? untilItAnswers(first, call, ms, givenUp) : first;
}

function attempt<T>(call: () => T | Promise<T>): T | Promise<T> {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Tells a promise, of any library, from an answer. */
const isThenable = <T>(answer: T | Promise<T>): answer is Promise<T> =>
  typeof answer === 'object' && answer !== null && 'then' in answer;

function untilItAnswers<T>(
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
      reject(new StoreUnavailable(ms, failure));
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
      await Promise.resolve(attempt(call)).then(answered, failed);
    };
    // The store may return a thenable that is not a native promise.
    void Promise.resolve(first).then(answered, failed);
  });
}
