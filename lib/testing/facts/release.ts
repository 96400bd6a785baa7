import { LONG } from '../check';
import type { Fact } from '../trial';

export const releaseFacts: readonly Fact[] = [
  [
    'gives up the lease of the token',
    async ({ one, check }) => {
      await one.acquire('a', LONG);
      check.answer(await one.release('a'), true);
      await check.holder('free');
    },
  ],
  [
    'gives up the record of the token',
    async ({ one, check }) => {
      await one.acquire('a', LONG);
      await one.complete('a', LONG);
      check.answer(await one.release('a'), true);
      await check.holder('free');
    },
  ],
  [
    'is false for another token, and changes nothing',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      check.answer(await other.release('b'), false);
      await check.holder('running a');
    },
  ],
  [
    'may be repeated, and does no harm to the token that came after',
    async ({ one, other, check }) => {
      await one.acquire('a', LONG);
      await one.release('a');
      await other.acquire('b', LONG);
      await one.release('a');
      await check.holder('running b');
    },
  ],
];
