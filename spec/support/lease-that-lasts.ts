/** Milliseconds. On a machine with time to spare, the first one lasts. */
const LEASES = [1_000, 5_000, 20_000];

/**
 * Runs requests whose handler takes several leases, with a lease that the machine does not take away: a process that
 * gets no time for a whole lease loses it, as promised, and then another request may run. After a loss, a longer lease is
 * tried.
 */
export async function withLeaseThatLasts(
  run: (leaseDuration: number) => Promise<{ readonly runs: number; readonly losses: number }>,
): Promise<void> {
  for (const leaseDuration of LEASES) {
    const { runs, losses } = await run(leaseDuration);
    expect(runs).toBeLessThanOrEqual(1 + losses);
    if (losses === 0) return;
  }
  throw new Error(`Leases were lost, even one of ${LEASES.at(-1)} ms`);
}
