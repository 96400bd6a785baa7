/** Milliseconds: who is held up longer than this says so. */
const STALL = 100;

/** Reports each time this process did not get to run for a while. @returns what ends it. */
export function watchForStalls(report: (ms: number) => void): () => void {
  let ticked = performance.now();
  const timer = setInterval(() => {
    const ms = performance.now() - ticked - STALL / 4;
    if (ms > STALL) report(ms);
    ticked = performance.now();
  }, STALL / 4).unref();
  return () => {
    clearInterval(timer);
  };
}

/** Uses the store all the time, and reports each time that it took long to answer. @returns what ends it. */
export function watchStore(use: () => Promise<unknown>, report: (ms: number) => void): () => void {
  let asking = false;
  const probe = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const asked = performance.now();
    // One that is down has been put down by a fault.
    await use().catch(() => undefined);
    const ms = performance.now() - asked;
    if (ms > STALL) report(ms);
    asking = false;
  };
  const timer = setInterval(() => {
    void probe();
  }, STALL / 4);
  return () => {
    clearInterval(timer);
  };
}
