import { LONG, SHORT } from '../check';
import type { Fact, Trial } from '../trial';

/** Acts of the next holder, b, before the late one comes back. */
const NEXT: readonly (readonly [title: string, next: (trial: Trial) => unknown])[] = [
  ['is running', () => undefined],
  ['is done', ({ other }) => other.complete('b', LONG)],
  [
    'has given up and a third is running',
    async ({ other }) => {
      await other.release('b');
      await other.acquire('c', LONG);
    },
  ],
];

const LATE: readonly (readonly [title: string, step: (trial: Trial) => Promise<boolean>])[] = [
  ['completes', ({ one }) => one.complete('a', LONG)],
  ['releases', ({ one }) => one.release('a')],
  ['renews', ({ one }) => one.renew('a', LONG)],
];

/** A process that was suspended for longer than its lease must not disturb the run that has taken its place. */
export const lateHolderFacts: readonly Fact[] = NEXT.flatMap(([state, next]) =>
  LATE.map(([step, late]): Fact => [
    `${step} without effect while the next ${state}`,
    async trial => {
      const { one, check, acquireOnceExpired } = trial;
      await one.acquire('a', SHORT);
      await acquireOnceExpired('b');
      await next(trial);
      const before = await check.seenHolder();
      check.answer(await late(trial), false);
      await check.holder(before);
    },
  ]),
);
