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

/** Milliseconds that a garbage collection or a compilation can add to a short work: a ratio of two times allows them. */
export const NOISE = 50;

/** Returns the processor time of each work, the least of five: it runs once more than that, in turns with the others. */
export async function leastTimes<Works extends (() => unknown)[]>(
  ...works: Works
): Promise<{ [index in keyof Works]: number }> {
  const least = works.map(() => Infinity);
  for (let round = 0; round <= 5; round++)
    for (const [index, work] of works.entries()) {
      const ms = await processorTime(work);
      if (round > 0) least[index] = Math.min(least[index] as number, ms);
    }
  return least as { [index in keyof Works]: number };
}
