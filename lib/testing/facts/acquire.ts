import { LONG, SHORT } from '../check';
import type { Fact } from '../trial';

const ACQUIRED = { kind: 'acquired' };

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
    'takes a lease that has expired',
    async ({ one, check, acquireOnceExpired }) => {
      await one.acquire('a', SHORT);
      await acquireOnceExpired('b');
      await check.holder('running b');
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
    `keeps a key that ends with ${JSON.stringify(odd).slice(0, 20)} apart from others`,
    async ({ at, check }) => {
      await at(odd).one.acquire('a', LONG);
      check.running(await at(odd).other.acquire('b', LONG), 'a');
      check.answer(await at(`${odd}.`).other.acquire('b', LONG), ACQUIRED);
    },
  ]),
  ...ODD_TOKENS.map((token): Fact => [
    `keeps the token ${JSON.stringify(token)} as it is`,
    async ({ one, other, check }) => {
      await one.acquire(token, LONG);
      check.running(await other.acquire(`${token}x`, LONG), token);
      check.answer(await one.complete(token, LONG), true);
      check.answer(await other.acquire(`${token}x`, LONG), { kind: 'done', token });
    },
  ]),
];
