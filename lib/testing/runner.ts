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

/** A test runner of any kind, called in one way. */
interface Suite {
  readonly describe: (title: string, body: () => void) => void;
  readonly test: (title: string, body: () => Promise<void>) => void;
  readonly after: (body: () => Promise<void>) => void;
}

/** The context of a mocha test; other runners pass another one, or none. */
type MochaContext = { readonly timeout?: unknown } | undefined;

/**
 * Prepares the test runner that was passed, or the global one.
 * @param owner the function that takes these options, for the message.
 * @throws TypeError that says what to pass when a function of the runner is missing.
 */
export function suiteOn(owner: string, { runner, timeout = 60_000 }: TestRunnerOptions): Suite {
  const { describe, it, after, afterAll = after } = runner ?? (globalThis as Partial<TestRunner>);
  if (typeof describe !== 'function' || typeof it !== 'function' || typeof afterAll !== 'function') {
    const where = runner === undefined ? 'among the global functions' : 'in options.runner';
    const missing = Object.entries({ describe, it, 'after (or afterAll)': afterAll }).flatMap(([name, value]) =>
      typeof value === 'function' ? [] : [name],
    );
    throw new TypeError(
      `${owner}: there is no ${missing.join(', no ')} ${where}. Pass those of your test runner: ` +
        "import * as runner from 'node:test' (or 'vitest'), and { runner } as the third argument.",
    );
  }
  /** Jest and vitest take the time as an argument; mocha takes it from the test's context; node:test has no limit. */
  const withTime = (body: () => Promise<void>) =>
    function (this: unknown): Promise<void> {
      const { timeout: setTimeout } = (this as MochaContext) ?? {};
      if (typeof setTimeout === 'function') setTimeout.call(this, timeout);
      return body();
    };
  return {
    describe(title, body) {
      describe(title, body);
    },
    test(title, body) {
      it(title, withTime(body), timeout);
    },
    after(body) {
      afterAll(withTime(body));
    },
  };
}
