import type { LeaseStore } from '../idempotency/leases/lease-store';
import { moveSequences } from './lease-model';
import { suiteOn, type TestRunnerOptions } from './runner';
import { playAll, playSequence } from './sequences';
import { LONG, requireMethods, Trial } from './trial';

/** A lease store, and a way to let time pass in it. */
export interface LeaseStoreInTime {
  readonly store: LeaseStore;
  /**
   * Lets everything that is stored under the key expire: moves its time of expiry, or advances a fake clock by more
   * than a minute.
   */
  expire(key: string): unknown;
  /** Called after the test. */
  close?(): unknown;
}

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
  const { describe, it } = suiteOn('leaseStoreSearch', options);
  describe(`${name} as a lease store`, () => {
    const title = `answers every sequence of ${depth} steps of three holders, and of time, as the model does`;
    it(title, async () => {
      const inTime = await make();
      try {
        const { store } = inTime;
        requireMethods(store);
        const trial = new Trial(title, { one: store, other: store });
        // A store may open a connection or make a table at its first step.
        await trial.one.acquire('first', LONG);
        await playAll(moveSequences(depth), atOnce, async moves => {
          const one = trial.again();
          await playSequence(one, moves, index => index < moves.length && inTime.expire(one.key));
        });
      } finally {
        await inTime.close?.();
      }
    });
  });
}
