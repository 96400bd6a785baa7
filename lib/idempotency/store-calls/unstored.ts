import { oneInProcess } from '../../basics/one-in-process';
import { memoryBound } from '../../basics/process-memory';
import { StoreUnavailable } from './store-call';

/** Bytes of a response besides its body, at least. */
const ENTRY_BYTES = 1_000;

/**
 * @internal The bytes of the responses that this process could not store in time, and still tries to; at most 64 MiB,
 * or a sixteenth of the memory that it may use. (Nested in an object: between test files, Jest replaces the properties
 * of global objects by accessors, and `bytes` must stay a plain property.)
 */
export const { unstored } = oneInProcess('unstored', () => ({
  unstored: { bytes: 0, bound: memoryBound(67_108_864, 1 / 16) },
}));

/**
 * Counts a response that could not be stored in time.
 * @returns a function to be called when it is stored, or given up.
 */
export function countUnstored(bodyBytes: number): () => void {
  const bytes = bodyBytes + ENTRY_BYTES;
  unstored.bytes += bytes;
  return () => {
    unstored.bytes -= bytes;
  };
}

/**
 * Refuses a run while too many bytes of responses wait to be stored: each run would add one.
 * @throws StoreUnavailable
 */
export function refuseIfTooManyUnstored(): void {
  if (unstored.bytes <= unstored.bound) return;
  throw new StoreUnavailable(
    `New requests are refused, because ${unstored.bytes} bytes of responses wait to be stored, more than ` +
      String(unstored.bound),
  );
}
