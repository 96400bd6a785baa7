import { leaseFacts, responseFacts } from './testing/facts';
import { Trial, type LeaseStoreUnderTest, type StoreUnderTest } from './testing/trial';

export type { Acquisition, LeaseStore } from './idempotency/leases/lease-store';
export type { Store } from './idempotency/stores/store';
export type { LeaseStoreUnderTest, StoreUnderTest };

/**
 * The functions of a test runner that the suites call: those of jest, vitest, mocha, node:test, and others like them.
 */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>, timeout?: number) => unknown;
  /** The name in mocha and node:test. */
  readonly after?: (body: () => Promise<void>) => unknown;
  /** The name in jest and vitest. */
  readonly afterAll?: (body: () => Promise<void>) => unknown;
}

/** Options of the suites. */
export interface StoreContractOptions {
  /**
   * The test runner, for example `import * as runner from 'node:test'` or `from 'vitest'`. Default: the global
   * functions, as jest and mocha have them, and vitest with `globals`.
   */
  readonly runner?: TestRunner;
  /** Milliseconds that each test may take, opening the store included. Default 60 000. */
  readonly timeout?: number;
}

/** Opens what is tested; called once, by the first test. */
type Make<S> = () => S | Promise<S>;

/**
 * Declares the tests that every lease store has to pass, with keys of their own each; what is optional is tried where
 * it is there. They take real time: for a short lease, they wait until it has expired; a long one is a minute, and must
 * not expire.
 * @param name of the store, for the titles.
 * @param make opens two views of the store; called once, by the first test.
 * @throws TypeError if there is no test runner.
 */
export function leaseStoreContract(
  name: string,
  make: Make<LeaseStoreUnderTest>,
  options: StoreContractOptions = {},
): void {
  declare('leaseStoreContract', `${name} as a lease store`, make, options, leaseFacts, both => both);
}

/**
 * Declares the tests that every store of leases and responses has to pass: those of {@link leaseStoreContract} for its
 * leases, and those of its responses, and of `commit`.
 * @param name of the store, for the titles.
 * @param make opens two views of the store; called once, by the first test.
 * @throws TypeError if there is no test runner.
 */
export function storeContract(name: string, make: Make<StoreUnderTest>, options: StoreContractOptions = {}): void {
  const leasesOf = ({ one, other }: StoreUnderTest) => ({ one: one.leases, other: other.leases });
  declare('storeContract', `${name} as a store`, make, options, { ...leaseFacts, ...responseFacts }, leasesOf);
}

/**
 * Declares a test of each fact on the test runner that was passed, or the global one.
 * @param owner the function that takes the options, for the message.
 * @throws TypeError that says what to pass when a function of the runner is missing.
 */
function declare<S extends { close?(): unknown }>(
  owner: string,
  name: string,
  make: Make<S>,
  { runner, timeout = 60_000 }: StoreContractOptions,
  facts: Readonly<Record<string, (trial: Trial, opened: S) => Promise<void>>>,
  leasesOf: (opened: S) => LeaseStoreUnderTest,
): void {
  const { describe, it, after, afterAll = after } = runner ?? (globalThis as Partial<TestRunner>);
  if (!describe || !it || !afterAll) {
    const functions = Object.entries({ describe, it, 'after (or afterAll)': afterAll });
    const missing = functions.filter(([, one]) => !one).map(([missed]) => `no ${missed}`);
    throw new TypeError(
      `${owner}: there is ${missing.join(', ')} ${runner ? 'in options.runner' : 'among the global functions'}. ` +
        "Pass those of your test runner: import * as runner from 'node:test' (or 'vitest'), and { runner } as the " +
        'third argument.',
    );
  }
  /** Jest and vitest take the time as an argument; mocha takes it from the test's context; node:test has no limit. */
  const withTime = (body: () => Promise<void>) =>
    function (this: { readonly timeout?: (ms: number) => unknown } | undefined): Promise<void> {
      if (typeof this?.timeout === 'function') this.timeout(timeout);
      return body();
    };
  describe(name, () => {
    let made: Promise<S> | undefined;
    const close = async (): Promise<void> => {
      // Where the store could not be opened, each test has said so.
      await (await made?.catch(() => undefined))?.close?.();
    };
    afterAll(withTime(close));
    for (const [promise, holds] of Object.entries(facts)) {
      const test = async (): Promise<void> => {
        const opened = await (made ??= Promise.resolve().then(make));
        await holds(new Trial(promise, leasesOf(opened)), opened);
      };
      it(promise, withTime(test), timeout);
    }
  });
}
