/** Stands still, as a process that is stopped: nothing in it runs for so many milliseconds. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
