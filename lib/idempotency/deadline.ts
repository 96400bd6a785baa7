import { setTimeout as pause } from 'node:timers/promises';

/** A store did not do its work within `storeTimeout`. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';

  constructor(ms: number, cause?: unknown) {
    super(`The store did not answer within ${ms} ms`, { cause });
  }
}

/** Milliseconds between two tries of a call that failed. */
const RETRY_PAUSE = 25;

/**
 * Calls a store until it answers, for `ms` milliseconds in all. A failed call is tried again, since every call here may be
 * repeated without harm: the first one may have been carried out and only its answer lost.
 * @param onLate what to do with an answer that comes after the deadline; a client that queues commands while it is
 * disconnected carries them out much later.
 * @throws StoreTimeout
 */
export async function withinDeadline<T>(call: () => T | Promise<T>, ms: number, onLate?: (answer: T) => void): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    try {
      return await first(call, deadline - performance.now(), ms, onLate);
    } catch (error) {
      if (error instanceof StoreTimeout) throw error;
      if (performance.now() + RETRY_PAUSE >= deadline) throw new StoreTimeout(ms, error);
      await pause(RETRY_PAUSE);
    }
  }
}

function first<T>(call: () => T | Promise<T>, msLeft: number, ms: number, onLate?: (answer: T) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      reject(new StoreTimeout(ms));
    }, msLeft);
    Promise.resolve().then(call).then(
      answer => {
        clearTimeout(timer);
        if (late) onLate?.(answer);
        else resolve(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
