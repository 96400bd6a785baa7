import { LONG, type Fact } from '../trial';

/**
 * Pairs of texts that some databases take for equal, by a collation, a limit of length, or blanks that do not count.
 */
const DIFFERENT = [
  ['k', 'K'],
  ['k', 'k '],
  ['k', ' k'],
  ['e', 'é'],
  ['\u00e9', 'e\u0301'],
  [`${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`],
] as const;

const ODD_KEYS = ['', ' ', '\0', '__proto__', 'a:b', '{a}', 'ü🦉', '*', 'r:a', 'x'.repeat(2_000)];
const ODD_TOKENS = ['', 'r:a', 'd:a', 'a.b', 'ü', 'done', 'any.0'];

export const keyFacts: readonly Fact[] = [
  ...ODD_KEYS.map((odd): Fact => [
    `are kept apart where a key ends with ${named(odd)}`,
    async trial => {
      await trial.at(odd).one.acquire('a', LONG);
      trial.answers(await trial.at(odd).other.acquire('b', LONG), { kind: 'running', token: 'a' });
      trial.answers(await trial.at(`${odd}.`).other.acquire('b', LONG), { kind: 'acquired' });
    },
  ]),
  ...ODD_TOKENS.map((odd): Fact => [
    `are kept as they are: the token ${named(odd)}`,
    trial => tellsApart(trial, odd, `${odd}x`),
  ]),
  ...DIFFERENT.map(([first, second]): Fact => [
    `are told apart: ${named(first)} and ${named(second)}`,
    async trial => {
      await trial.at(first).one.acquire('a', LONG);
      trial.answers(await trial.at(second).other.acquire('b', LONG), { kind: 'acquired' });
      await tellsApart(trial, first, second);
    },
  ]),
];

async function tellsApart(trial: Parameters<Fact[1]>[0], first: string, second: string): Promise<void> {
  const { one, other } = trial;
  await one.acquire(first, LONG);
  trial.answers(await other.acquire(second, LONG), { kind: 'running', token: first });
  for (const step of ['renew', 'complete'] as const) trial.answers(await other[step](second, LONG), false);
  trial.answers(await other.release(second), false);
  trial.answers(await one.complete(first, LONG), true);
  trial.answers(await other.acquire(second, LONG), { kind: 'done', token: first });
}

/** Names a text in the title of a test: its end, if it is long. */
function named(text: string): string {
  const shown = JSON.stringify(text);
  return shown.length > 20 ? `"…${shown.slice(-5)}` : shown;
}
