/** Milliseconds of the processor that this process used during the work: unlike the clock, a busy machine adds little to it. */
export async function processorTime(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1_000;
}
