import { afterRunning } from './running-time';

/** A store did not do its work within `storeTimeout`. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';

  constructor(ms: number, cause?: unknown) {
    super(`The store did not answer within ${ms} ms`, { cause });
  }
}

/** Milliseconds between two tries of a call that failed. */
const RETRY_PAUSE = 25;

/** Makes a call, and waits for its answer for at most `ms` milliseconds. */
export type Bounded = <T>(call: () => T | Promise<T>, ms: number, onLate?: (answer: T) => void) => Promise<T>;

/**
 * Calls a store until it answers, for `ms` milliseconds in all. A failed call is tried again, since every call here may
 * be repeated without harm: the first one may have been carried out and only its answer lost.
 * @param onLate what to do with an answer that comes after the deadline; a client that queues commands while it is
 * disconnected carries them out much later.
 * @throws StoreTimeout
 */
export const withinDeadline: Bounded = (call, ms, onLate) => bounded(call, ms, true, onLate);

/** Calls once. @throws StoreTimeout, or what the call failed with. */
export const onceWithinDeadline: Bounded = (call, ms, onLate) => bounded(call, ms, false, onLate);

function bounded<T>(call: () => T | Promise<T>, ms: number, again: boolean, onLate?: (answer: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let failure: unknown;
    const stop = afterRunning(ms, () => {
      isOver = true;
      reject(new StoreTimeout(ms, failure));
    });
    const attempt = (): void => {
      if (isOver) return;
      Promise.resolve()
        .then(call)
        .then(
          answer => {
            stop();
            if (isOver) onLate?.(answer);
            else resolve(answer);
          },
          (error: unknown) => {
            failure = error;
            if (again) {
              setTimeout(attempt, RETRY_PAUSE);
              return;
            }
            stop();
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
    };
    attempt();
  });
}
