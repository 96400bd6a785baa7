import { setTimeout as pause } from 'node:timers/promises';
import { types } from 'node:util';
import { afterRunning } from './running-time';

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

/** Milliseconds between two tries of a call that failed. */
const RETRY_PAUSE = 25;

/**
 * Calls a store until it answers, for at most `ms` milliseconds in all. A failed call is tried again, since every call
 * to a store may be repeated without harm: the first one may have been carried out and only its answer lost.
 * @param onLate called with an answer that comes after that time; a client that queues commands while it is
 * disconnected carries them out much later.
 * @returns the answer; a promise only if the store does not answer at once, as one in memory does.
 * @throws StoreUnavailable
 */
export function callStore<T>(call: () => T | Promise<T>, ms: number, onLate?: (answer: T) => void): T | Promise<T> {
  const first = attempt(call);
  return isThenable(first) ? untilItAnswers(first, call, ms, onLate) : first;
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
  onLate?: (answer: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let failure: unknown;
    const stop = afterRunning(ms, () => {
      isOver = true;
      reject(new StoreUnavailable(ms, failure));
    });
    const answered = (answer: T): void => {
      stop();
      if (isOver) onLate?.(answer);
      else resolve(answer);
    };
    const failed = async (error: unknown): Promise<void> => {
      failure = error;
      await pause(RETRY_PAUSE);
      if (!isOver) await Promise.resolve(attempt(call)).then(answered, failed);
    };
    // The store may return a thenable that is not a native promise.
    void Promise.resolve(first).then(answered, failed);
  });
}
