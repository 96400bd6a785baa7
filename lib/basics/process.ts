import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/**
 * Bytes of memory that this process may use: those of its container, else of the machine; but no more than twice what
 * V8's heap may have (`--max-old-space-size`), because half of what takes memory is in there. Where nothing limits the
 * process, node says undefined (before 20.13), 0, or a number beyond any memory (where cgroups set no limit).
 */
export const processMemory = Math.min(
  totalmem(),
  process.constrainedMemory() || Infinity,
  2 * getHeapStatistics().heap_size_limit,
);

/**
 * Returns a bound for what takes memory, or less: so many for each byte that the process may use. All bounds together
 * let it take two thirds of its memory; the rest is for node, and for what handlers make of their requests.
 */
export const memoryBound = (bound: number, perByte: number): number =>
  Math.min(bound, Math.floor(processMemory * perByte));

/**
 * Returns what is kept under a name once in this process, however many copies of this module are loaded: their
 * middlewares guard the same requests.
 * @param make makes it on the first call with this name.
 */
export function oneInProcess<T extends object>(name: string, make: () => T): T {
  return ((globalThis as unknown as Record<symbol, T | undefined>)[Symbol.for(`bindonce.${name}`)] ??= make());
}
