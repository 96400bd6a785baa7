/**
 * Milliseconds: a timer that is at most this late was on time. An idle Windows rounds timers up to ticks of 15.6 ms, so
 * that one which is armed again would be late again.
 */
const ON_TIME = 20;

/**
 * Calls `then` after `ms` milliseconds in which this process could run.
 *
 * Node runs timers before it reads sockets: after the process has stood still (a long JSON, a garbage collection,
 * SIGSTOP), a deadline seems over although the answer has arrived. So a timer that fires late is armed again for as
 * long as it was late, by at most `ms` more in all; and one that fires on time lets the sockets be read first.
 * @returns a function that cancels the call.
 */
export function afterRunning(ms: number, then: () => void): () => void {
  let grace = ms;
  let timer: NodeJS.Timeout;
  let lastTurn: NodeJS.Immediate | undefined;
  const arm = (delay: number): void => {
    const due = performance.now() + delay;
    timer = setTimeout(() => {
      const late = performance.now() - due;
      if (late <= ON_TIME || grace <= 0) {
        lastTurn = setImmediate(then);
        return;
      }
      const more = Math.min(late, grace);
      grace -= more;
      arm(more);
    }, delay);
  };
  arm(ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(lastTurn);
  };
}

/** A call did not answer in its time. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/**
 * Makes a call, and waits for its answer for at most `ms` milliseconds in which this process could run.
 * @throws TimedOut, or the error of the call.
 */
export function withinTime<T>(call: () => T | Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterRunning(ms, () => {
      reject(new TimedOut(`No answer within ${ms} ms`));
    });
    const answered = (answer: T): void => {
      stop();
      resolve(answer);
    };
    const failed = (error: unknown): void => {
      stop();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    new Promise<T>(settle => {
      settle(call());
    })
      .then(answered, failed)
      .catch(failed);
  });
}
