/** Milliseconds that the processor has worked for this process: unlike the clock, a busy machine adds little to it. */
export function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds that the processor worked for this process during the work. */
export async function processorTime(work: () => unknown): Promise<number> {
  const before = worked();
  await work();
  return worked() - before;
}
