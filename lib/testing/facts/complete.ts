import { setTimeout as pause } from 'node:timers/promises';
import { LONG, SHORT } from '../check';
import type { Fact } from '../trial';

/** Milliseconds: the longest time for which bindonce keeps a record. */
const TEN_YEARS = 315_360_000_000;

export const completeFacts: readonly Fact[] = [
  [
    'may be repeated',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      check.answer(await one.complete('a', LONG), true);
      check.answer(await other.complete('a', LONG), true);
      await check.holder('done a');
    },
  ],
  [
    'keeps the record for the time of the last repetition',
    async ({ one, other, check, acquireOnceExpired }) => {
      await one.complete('a', 1_000);
      await other.complete('a', LONG);
      await pause(1_200);
      await check.holder('done a');
      // Here, no pause of this process can let the first time pass before the second call.
      await one.complete('a', SHORT);
      await acquireOnceExpired('b');
    },
  ],
  [
    'keeps a record for ten years',
    async ({ one, check }) => {
      await one.acquire('a', LONG);
      check.answer(await one.complete('a', TEN_YEARS), true);
      // A timer of Node that is to take more than 2^31 - 1 ms fires at once.
      await pause(SHORT);
      await check.holder('done a');
      // No row of a test should stay in a database for so long.
      await one.release('a');
    },
  ],
  [
    'is false for another token, and changes nothing',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      check.answer(await other.complete('b', LONG), false);
      await check.holder('running a');
    },
  ],
  [
    'is false once another run is done, and changes nothing',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      await one.complete('a', LONG);
      check.answer(await other.complete('b', LONG), false);
      await check.holder('done a');
    },
  ],
  [
    'is still accepted when the lease has expired and no token has acquired it since',
    async ({ one, other, check, acquireOnceExpired }) => {
      await one.acquire('a', SHORT);
      await acquireOnceExpired('b');
      await other.release('b');
      check.answer(await one.complete('a', LONG), true);
      await check.holder('done a');
    },
  ],
];
