import { setTimeout as pause } from 'node:timers/promises';
import { LONG, type Fact } from '../trial';

/** Milliseconds by which the time of a store may differ from ours. */
const TOLERANCE = 100;
/** Milliseconds: the longest time for which bindonce keeps a record. */
const TEN_YEARS = 315_360_000_000;

export const timeFacts: readonly Fact[] = [
  [
    'is told to the millisecond, by any clock that counts them',
    async trial => {
      const ms = 9_999;
      // An answer that comes late proves little, so a busy process asks again.
      for (let attempt = 1, passed = Infinity; passed > TOLERANCE && attempt <= 20; attempt++) {
        const { one, other } = trial.again();
        const asked = performance.now();
        await one.acquire('a', ms);
        const answer = await other.acquire('b', ms);
        passed = performance.now() - asked;
        const least = ms - passed - TOLERANCE;
        const msLeft = answer.kind === 'running' ? answer.msLeft : -Infinity;
        const expected = `at least ${Math.floor(least)}, at most ${ms}`;
        trial.holds(msLeft >= least && msLeft <= ms, `msLeft is ${msLeft}`, expected);
      }
    },
  ],
  [
    'of ten years is kept by a record',
    async trial => {
      const { one, other } = trial;
      await one.acquire('a', LONG);
      trial.answers(await one.complete('a', TEN_YEARS), true);
      // A timer of Node that is to take more than 2^31 - 1 ms fires at once.
      await pause(1_200);
      trial.answers(await other.acquire('b', LONG), { kind: 'done', token: 'a' });
      // No row of a test should stay in a database for so long.
      await one.release('a');
    },
  ],
];
