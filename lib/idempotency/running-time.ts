/** Milliseconds: a timer that is no later than this was on time. */
const ON_TIME = 2;

/**
 * Calls `then` when `ms` milliseconds are over in which this process could run.
 *
 * Node runs timers before it reads sockets: after the process has stood still (a long JSON, a garbage collection,
 * SIGSTOP), a deadline looks over although the answer has arrived. So a timer that fires late is armed again for as
 * long as it was late, by at most `ms` more in all; and one that fires on time lets the sockets have their turn first.
 * @returns a function that takes the call back.
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
