import { LONG, SHORT } from '../check';
import type { Fact } from '../trial';

const ACQUIRED = { kind: 'acquired' };

/** Milliseconds by which the time of a store may differ from ours. */
const TOLERANCE = 100;

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

export const acquireFacts: readonly Fact[] = [
  [
    'takes a lease that no token holds',
    async ({ one, check }) => {
      check.answer(await one.acquire('a', LONG), ACQUIRED);
      await check.holder('running a');
    },
  ],
  [
    'tells other tokens which one holds the lease, and for how long',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      check.running(await other.acquire('b', 1), 'a');
    },
  ],
  [
    'is acquired for the token that holds the lease already, for the new time',
    async ({ one, other, check }) => {
      await one.acquire('a', SHORT);
      check.answer(await other.acquire('a', LONG), ACQUIRED);
      check.running(await other.acquire('b', 1), 'a');
    },
  ],
  [
    'is done for every token, its own too, once the run is completed',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      await one.complete('a', LONG);
      check.answer(await other.acquire('b', LONG), { kind: 'done', token: 'a' });
      check.answer(await one.acquire('a', LONG), { kind: 'done', token: 'a' });
    },
  ],
  ...[20, 200].map((callers): Fact => [
    `gives the lease to one of ${callers} concurrent callers`,
    async ({ one, other, check }) => {
      const answers = await Promise.all(
        Array.from({ length: callers }, (_, index) => (index % 2 ? one : other).acquire(`token ${index}`, LONG)),
      );
      const acquired = answers.filter(({ kind }) => kind === 'acquired').length;
      check.that(acquired === 1, `${acquired} callers acquired it`, '1');
      const holders = new Set(answers.flatMap(answer => (answer.kind === 'running' ? [answer.token] : [])));
      check.that(holders.size === 1, `The others were told of ${holders.size} holders`, '1');
    },
  ]),
  [
    'tells to the millisecond for how long, by any clock that counts them',
    async ({ again }) => {
      const ms = 9_999;
      // An answer that comes late proves little, so a busy process asks again.
      for (let attempt = 1, passed = Infinity; passed > TOLERANCE && attempt <= 20; attempt++) {
        const { one, other, check } = again();
        const asked = performance.now();
        await one.acquire('a', ms);
        const answer = await other.acquire('b', ms);
        passed = performance.now() - asked;
        const least = ms - passed - TOLERANCE;
        const msLeft = answer.kind === 'running' ? answer.msLeft : -Infinity;
        const expected = `at least ${Math.floor(least)}, at most ${ms}`;
        check.that(msLeft >= least && msLeft <= ms, `msLeft is ${msLeft}`, expected);
      }
    },
  ],
  [
    'takes a lease that has expired',
    async ({ one, check, acquireOnceExpired }) => {
      await one.acquire('a', SHORT);
      await acquireOnceExpired('b');
      await check.holder('running b');
    },
  ],
  [
    'gives a lease that has expired to one of 20 concurrent callers',
    async ({ one, other, check, onceExpired }) => {
      await one.acquire('a', SHORT);
      let acquired: readonly string[] = [];
      await onceExpired(async () => {
        const tokens = Array.from({ length: 20 }, (_, index) => `token ${index}`);
        const answers = await Promise.all(tokens.map((token, index) => (index % 2 ? one : other).acquire(token, LONG)));
        acquired = tokens.filter((_, index) => answers[index]?.kind === 'acquired');
        return acquired.length > 0;
      });
      check.that(acquired.length === 1, `${acquired.length} callers acquired it`, '1');
      await check.holder(`running ${acquired.join()}`);
    },
  ],
  [
    'takes a lease whose record has expired',
    async ({ one, check, acquireOnceExpired }) => {
      await one.acquire('a', LONG);
      await one.complete('a', SHORT);
      await acquireOnceExpired('b');
      await check.holder('running b');
    },
  ],
  ...ODD_KEYS.map((odd): Fact => [
    `keeps a key that ends with ${named(odd)} apart from others`,
    async ({ at, check }) => {
      await at(odd).one.acquire('a', LONG);
      check.running(await at(odd).other.acquire('b', LONG), 'a');
      check.answer(await at(`${odd}.`).other.acquire('b', LONG), ACQUIRED);
    },
  ]),
  ...DIFFERENT.map(([first, second]): Fact => [
    `tells ${named(first)} and ${named(second)} apart, as the end of a key and as a token`,
    async ({ at, one, other, check }) => {
      await at(first).one.acquire('a', LONG);
      check.answer(await at(second).other.acquire('b', LONG), ACQUIRED);
      await one.acquire(first, LONG);
      check.running(await other.acquire(second, LONG), first);
      for (const step of ['renew', 'complete'] as const) check.answer(await other[step](second, LONG), false);
      check.answer(await other.release(second), false);
      check.answer(await one.complete(first, LONG), true);
      check.answer(await other.acquire(second, LONG), { kind: 'done', token: first });
    },
  ]),
  ...ODD_TOKENS.map((token): Fact => [
    `keeps the token ${named(token)} as it is`,
    async ({ one, other, check }) => {
      await one.acquire(token, LONG);
      check.running(await other.acquire(`${token}x`, LONG), token);
      check.answer(await one.complete(token, LONG), true);
      check.answer(await other.acquire(`${token}x`, LONG), { kind: 'done', token });
    },
  ]),
];

/** Names a text in the title of a test: its end, if it is long. */
function named(text: string): string {
  const shown = JSON.stringify(text);
  return shown.length > 20 ? `"…${shown.slice(-5)}` : shown;
}
