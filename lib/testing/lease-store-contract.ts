import { acquireFacts } from './facts/acquire';
import { completeFacts } from './facts/complete';
import { concurrentFacts } from './facts/concurrent';
import { lateHolderFacts } from './facts/late-holder';
import { refusedFacts } from './facts/refused';
import { releaseFacts } from './facts/release';
import { renewFacts } from './facts/renew';
import { watchFacts } from './facts/watch';
import { requireMethods } from './required-methods';
import { suiteOn, type TestRunnerOptions } from './runner';
import { Trial, type Fact, type TwoViews } from './trial';

/** Two views of the same data, as two processes have them; the same object twice if the store is for one process. */
export interface LeaseStoreUnderTest extends TwoViews {
  /** Called after the last test. */
  close?(): unknown;
}

/** Options of {@link leaseStoreContract}. */
export interface LeaseStoreContractOptions extends TestRunnerOptions {
  /** Whether the store has the optional method `watch`. Default true. */
  readonly watches?: boolean;
}

const groups: readonly (readonly [title: string, facts: readonly Fact[]])[] = [
  ['acquire', acquireFacts],
  ['renew', renewFacts],
  ['complete', completeFacts],
  ['release', releaseFacts],
  ['a step of another token', refusedFacts],
  ['a holder that comes back after its lease expired', lateHolderFacts],
  ['concurrent steps', concurrentFacts],
];

/**
 * Declares the tests that every lease store has to pass, with keys of their own each. They take real time: for a short
 * lease, they wait until it has expired; a long one is a minute, and must not expire.
 * @param name of the store, for the titles.
 * @param make opens two views of the store; called once, by the first test.
 * @throws TypeError if there is no test runner.
 */
export function leaseStoreContract(
  name: string,
  make: () => LeaseStoreUnderTest | Promise<LeaseStoreUnderTest>,
  { watches = true, ...options }: LeaseStoreContractOptions = {},
): void {
  const { describe, test, after } = suiteOn('leaseStoreContract', options);
  describe(`${name} as a lease store`, () => {
    let made: Promise<LeaseStoreUnderTest> | undefined;
    const stores = (): Promise<LeaseStoreUnderTest> => (made ??= Promise.resolve().then(make));
    after(async () => {
      // Where the store could not be opened, each test has said so.
      await (await made?.catch(() => undefined))?.close?.();
    });

    for (const [title, facts] of watches ? [...groups, ['watch', watchFacts] as const] : groups) {
      describe(title, () => {
        for (const [promise, holds] of facts)
          test(promise, async () => {
            const { one, other } = await stores();
            requireMethods(one);
            requireMethods(other);
            await holds(new Trial(`${title} ${promise}`, { one, other }));
          });
      });
    }
  });
}
