import type { TestRunner } from '../../lib/testing';

/** A test of a suite that was declared but not passed on to jest. */
export interface CollectedTest {
  readonly title: string;
  readonly body: () => Promise<void>;
}

/** Declares a suite on a runner of its own. */
export function collect(declare: (runner: TestRunner) => void): {
  readonly tests: readonly CollectedTest[];
  readonly ends: readonly (() => Promise<void>)[];
} {
  const titles: string[] = [];
  const tests: CollectedTest[] = [];
  const ends: (() => Promise<void>)[] = [];
  declare({
    describe(title, body) {
      titles.push(title);
      body();
      titles.pop();
    },
    it: (title, body) => tests.push({ title: [...titles.slice(1), title].join(' '), body }),
    after: body => ends.push(body),
  });
  return { tests, ends };
}

/** Runs the tests of a suite at the same time. @returns the message of each that fails, by its title. */
export async function failuresOf(
  declare: (runner: TestRunner) => void,
  isMeant: (title: string) => boolean = () => true,
): Promise<Record<string, string>> {
  const { tests, ends } = collect(declare);
  const failures: Record<string, string> = {};
  await Promise.all(
    tests
      .filter(({ title }) => isMeant(title))
      .map(({ title, body }) =>
        body().catch((error: Error) => {
          failures[title] = error.message;
        }),
      ),
  );
  for (const end of ends) await end();
  return failures;
}
