import type { LeaseStore } from './idempotency/leases/lease-store';
import { storeFacts, watchFacts } from './testing/facts';
import { moveSequences } from './testing/lease-model';
import { playAll, playSequence, trialOf, type TwoViews } from './testing/trial';

export type { Acquisition, LeaseStore } from './idempotency/leases/lease-store';

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

/** Options that every suite has. */
export interface TestRunnerOptions {
  /**
   * The test runner, for example `import * as runner from 'node:test'` or `from 'vitest'`. Default: the global
   * functions, as jest and mocha have them, and vitest with `globals`.
   */
  readonly runner?: TestRunner;
  /** Milliseconds that each test may take, opening the store included. Default 60 000. */
  readonly timeout?: number;
}

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
  const facts = Object.entries(watches ? { ...storeFacts, ...watchFacts } : storeFacts);
  const tests = facts.map(([promise, holds]): Test<TwoViews> => [promise, both => holds(trialOf(promise, both))]);
  declare('leaseStoreContract', name, make, tests, options);
}

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
  const title = `answers every sequence of ${depth} steps of three holders, and of time, as the model does`;
  const playsTheModel = async (inTime: LeaseStoreInTime): Promise<void> => {
    const trial = trialOf(title, { one: inTime.store, other: inTime.store });
    // A store may open a connection or make a table at its first step.
    await trial.take('one', { step: 'acquire', token: 'first' });
    await playAll(moveSequences(depth), atOnce, moves => {
      const one = trial.again();
      return playSequence(one, moves, move => move.step === 'expire' && inTime.expire(one.key));
    });
  };
  declare('leaseStoreSearch', name, make, [[title, playsTheModel]], options);
}

/** A test, of a store that `make` has opened. */
type Test<S> = readonly [title: string, body: (opened: S) => Promise<void>];

/**
 * Declares tests of one store on the test runner that was passed, or the global one.
 * @param owner the function that takes the options, for the message.
 * @throws TypeError that says what to pass when a function of the runner is missing.
 */
function declare<S extends { close?(): unknown }>(
  owner: string,
  name: string,
  make: () => S | Promise<S>,
  tests: readonly Test<S>[],
  { runner, timeout = 60_000 }: TestRunnerOptions,
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
  describe(`${name} as a lease store`, () => {
    let made: Promise<S> | undefined;
    const close = async (): Promise<void> => {
      // Where the store could not be opened, each test has said so.
      await (await made?.catch(() => undefined))?.close?.();
    };
    afterAll(withTime(close));
    for (const [title, body] of tests)
      it(
        title,
        withTime(async () => body(await (made ??= Promise.resolve().then(make)))),
        timeout,
      );
  });
}
