import { concurrentFacts } from './facts/concurrent';
import { keyFacts } from './facts/keys';
import { timeFacts } from './facts/time';
import { watchFacts } from './facts/watch';
import { suiteOn, type TestRunnerOptions } from './runner';
import { sequenceFacts } from './sequences';
import { requireMethods, Trial, type Fact, type TwoViews } from './trial';

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
  ['steps', sequenceFacts],
  ['concurrent steps', concurrentFacts],
  ['keys and tokens', keyFacts],
  ['time', timeFacts],
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
  const { describe, it, after } = suiteOn('leaseStoreContract', options);
  describe(`${name} as a lease store`, () => {
    let made: Promise<LeaseStoreUnderTest> | undefined;
    after(async () => {
      // Where the store could not be opened, each test has said so.
      await (await made?.catch(() => undefined))?.close?.();
    });

    for (const [title, facts] of watches ? [...groups, ['watch', watchFacts] as const] : groups) {
      describe(title, () => {
        for (const [promise, holds] of facts)
          it(promise, async () => {
            const stores = await (made ??= Promise.resolve().then(make));
            requireMethods(stores.one);
            requireMethods(stores.other);
            await holds(new Trial(`${title} ${promise}`, stores));
          });
      });
    }
  });
}
