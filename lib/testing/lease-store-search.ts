import { randomUUID } from 'node:crypto';
import { LONG } from './check';
import { moveSequences } from './move-sequences';
import { playSequence, type LeaseStoreInTime } from './played-sequence';
import { requireMethods } from './required-methods';
import { suiteOn, type TestRunnerOptions } from './runner';

/** Options of {@link leaseStoreSearch}. */
export interface LeaseStoreSearchOptions extends TestRunnerOptions {
  /** Steps in each sequence: 4 are 5,073 sequences, 5 are 63,445. Default 4. */
  readonly depth?: number;
  /** Sequences that are played at one time, on a key each; 1 if `expire` affects all keys. Default 10. */
  readonly atOnce?: number;
}

/**
 * Declares a test that plays every sequence of acquire, renew, complete, release and expiry by three holders, and
 * compares each answer with a model.
 * @param name of the store, for the title.
 * @param make opens the store; called once, by the test.
 * @throws TypeError if there is no test runner.
 */
export function leaseStoreSearch(
  name: string,
  make: () => LeaseStoreInTime | Promise<LeaseStoreInTime>,
  { depth = 4, atOnce = 10, ...options }: LeaseStoreSearchOptions = {},
): void {
  const { describe, test } = suiteOn('leaseStoreSearch', options);
  describe(`${name} as a lease store`, () => {
    test(`answers every sequence of ${depth} steps of three holders, and of time, as the model does`, async () => {
      const inTime = await make();
      try {
        requireMethods(inTime.store);
        await search(inTime, depth, atOnce);
      } finally {
        await inTime.close?.();
      }
    });
  });
}

async function search(inTime: LeaseStoreInTime, depth: number, atOnce: number): Promise<void> {
  const prefix = `${randomUUID()}-`;
  // A store may open a connection or make a table at its first step.
  await inTime.store.acquire(prefix, 'first', LONG);
  const sequences = moveSequences(depth);
  let count = 0;
  let hasFailed = false;
  const players = Array.from({ length: atOnce }, async () => {
    try {
      for (let next = sequences.next(); !next.done && !hasFailed; next = sequences.next())
        await playSequence(inTime, `${prefix}${count++}`, next.value);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  // The store is closed only when no player uses it any more.
  const failed = (await Promise.allSettled(players)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
