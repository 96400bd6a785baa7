import { setTimeout as pause } from 'node:timers/promises';
import type { Acquisition } from '../../idempotency/leases/lease-store';
import { LONG, SHORT } from '../check';
import type { Fact, Trial } from '../trial';

/** The steps of a token that does not hold the key. */
const REFUSED: readonly (readonly [
  title: string,
  step: (trial: Trial, ms: number) => Promise<boolean | Acquisition>,
])[] = [
  ['acquire', ({ other }, ms) => other.acquire('b', ms)],
  ['renew', ({ other }, ms) => other.renew('b', ms)],
  ['complete', ({ other }, ms) => other.complete('b', ms)],
];

const HELD: readonly (readonly [title: string, make: (trial: Trial, ms: number) => Promise<unknown>])[] = [
  ['a lease', ({ one }, ms) => one.acquire('a', ms)],
  ['a record', ({ one }, ms) => one.complete('a', ms)],
];

/** Steps of another token must not lengthen a lease, or end a record early. */
export const refusedFacts: readonly Fact[] = HELD.flatMap(([held, make]) =>
  REFUSED.map(([title, step]): Fact => [
    `${title} does not change when ${held} expires`,
    async trial => {
      const { other, check, acquireOnceExpired } = trial;
      await make(trial, LONG);
      const before = await check.seenHolder();
      await step(trial, SHORT);
      await pause(3 * SHORT);
      await check.holder(before);
      let ms = 250;
      await make(trial, ms);
      while (isGranted(await step(trial, LONG))) {
        // This process may have been suspended until the time was over.
        check.that(ms < 4_000, `${title} by "b" was granted`, 'that it is refused');
        ms *= 2;
        await other.release('b');
        await make(trial, ms);
      }
      await acquireOnceExpired('c');
    },
  ]),
);

const isGranted = (answer: boolean | Acquisition): boolean =>
  answer === true || (typeof answer === 'object' && answer.kind === 'acquired');
