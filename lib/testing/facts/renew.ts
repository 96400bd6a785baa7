import { setTimeout as pause } from 'node:timers/promises';
import { LONG, SHORT } from '../check';
import type { Fact } from '../trial';

export const renewFacts: readonly Fact[] = [
  [
    'extends the lease of the token',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG / 6);
      check.answer(await one.renew('a', LONG), true);
      check.running(await other.acquire('b', 1), 'a');
    },
  ],
  [
    'is false for another token, and changes nothing',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      check.answer(await other.renew('b', 1), false);
      await check.holder('running a');
    },
  ],
  [
    'is false where there is no lease, and makes none',
    async ({ one, check }) => {
      check.answer(await one.renew('a', LONG), false);
      await check.holder('free');
    },
  ],
  [
    'is false once the lease was released',
    async ({ one, check }) => {
      await one.acquire('a', LONG);
      await one.release('a');
      check.answer(await one.renew('a', LONG), false);
    },
  ],
  [
    'is false once the lease was completed',
    async ({ one, check }) => {
      await one.acquire('a', LONG);
      await one.complete('a', LONG);
      check.answer(await one.renew('a', LONG), false);
    },
  ],
  [
    'does not change for how long a record is kept',
    async ({ one, other, check, acquireOnceExpired }) => {
      await one.complete('a', LONG);
      await other.renew('a', SHORT);
      await pause(3 * SHORT);
      await check.holder('done a');
      await one.complete('a', 1_000);
      await other.renew('a', LONG);
      await acquireOnceExpired('b');
    },
  ],
  [
    'is false once the lease has expired and another token has acquired it',
    async ({ one, check, acquireOnceExpired }) => {
      await one.acquire('a', SHORT);
      await acquireOnceExpired('b');
      check.answer(await one.renew('a', LONG), false);
      await check.holder('running b');
    },
  ],
];
