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

/**
 * Prepares the test runner that was passed, or the global one.
 * @param owner the function that takes these options, for the message.
 * @throws TypeError that says what to pass when a function of the runner is missing.
 */
export function suiteOn(
  owner: string,
  { runner, timeout = 60_000 }: TestRunnerOptions,
): Required<Pick<TestRunner, 'describe' | 'it' | 'after'>> {
  const { describe, it, after, afterAll = after } = runner ?? (globalThis as Partial<TestRunner>);
  if (!describe || !it || !afterAll) {
    const functions = Object.entries({ describe, it, 'after (or afterAll)': afterAll });
    const missing = functions.filter(([, one]) => !one).map(([name]) => `no ${name}`);
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
  return {
    describe,
    it: (title, body) => it(title, withTime(body), timeout),
    after: body => afterAll(withTime(body)),
  };
}
