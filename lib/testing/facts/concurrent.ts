import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { FREE, play, stepsOf, take, type LeaseState, type Step } from '../lease-model';
import { LONG, withoutTime, type Fact, type Trial } from '../trial';

/** Milliseconds: long enough for a step to be carried out meanwhile, short enough to be waited for. */
const SHORT = 60;

/** Three steps that are taken at the same time: of two holders, and of a third one that wants to run. */
const THREES = threeAtOnce<Step>([...stepsOf(['a', 'b']), { step: 'acquire', token: 'c' }]);

/**
 * When three steps begin, in turns of the event loop: one that begins a little later may fall between the two parts of
 * another.
 */
const BEGINNINGS = [
  [0, 0, 0],
  [0, 1, 1],
  [0, 1, 2],
  [0, 2, 3],
];

/** Keys on which steps are taken at one time. */
const AT_ONCE = 10;

/** What is stored before the steps, by which step, and whether it has expired. */
const STARTS: readonly (readonly [title: string, by: Step['step'] | undefined, hasExpired: boolean])[] = [
  ['a free key', undefined, false],
  ['a lease', 'acquire', false],
  ['a record', 'complete', false],
  ['a lease that has expired', 'acquire', true],
  ['a record that has expired', 'complete', true],
];

/** Each step is atomic: a check and a separate write would let two steps pass the check. */
export const concurrentFacts: readonly Fact[] = [
  ...STARTS.map(([title, by, hasExpired]): Fact => [
    `are taken one after another on ${title}`,
    async trial => {
      const trials = THREES.flatMap(steps =>
        BEGINNINGS.map(turns => ({
          steps: steps.map((step, at) => [step, turns[at] ?? 0] as const),
          on: trial.again(),
        })),
      );
      const start = by ? { step: by, token: 'a' } : undefined;
      if (start) await Promise.all(trials.map(({ on }) => take(on.one, start, hasExpired ? SHORT : LONG)));
      if (hasExpired) await pause(3 * SHORT);
      const held = start ? play(FREE, start)[1] : FREE;
      // A store may count its time a little later than we do.
      const states = hasExpired ? [FREE, held] : [held];
      for (let from = 0; from < trials.length; from += AT_ONCE)
        await Promise.all(trials.slice(from, from + AT_ONCE).map(({ on, steps }) => takeAtOnce(on, steps, states)));
    },
  ]),
  ...[20, 200].flatMap(callers =>
    [false, true].map((hasExpired): Fact => [
      `give ${hasExpired ? 'a lease that has expired' : 'a lease'} to one of ${callers} callers`,
      async trial => {
        if (hasExpired) await trial.one.acquire('a', SHORT);
        if (hasExpired) await pause(3 * SHORT);
        const acquired = await acquireAtOnce(trial, callers);
        trial.holds(acquired === 1, `${acquired} callers acquired it`, '1');
      },
    ]),
  ),
];

/** Acquires for many tokens in two processes. @returns how many have the lease. */
async function acquireAtOnce({ one, other }: Trial, callers: number): Promise<number> {
  const tokens = Array.from({ length: callers }, (_, index) => `token ${index}`);
  const answers = await Promise.all(tokens.map((token, index) => (index % 2 ? one : other).acquire(token, LONG)));
  return answers.filter(({ kind }) => kind === 'acquired').length;
}

/** Takes the steps in two processes, and checks that the answers and what is stored then are those of some order. */
async function takeAtOnce(
  trial: Trial,
  steps: readonly (readonly [step: Step, turns: number])[],
  states: readonly LeaseState[],
): Promise<void> {
  const answered = await Promise.all(
    steps.map(async ([step, turns], index) => {
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      const answer = await take(index % 2 ? trial.other : trial.one, step, LONG);
      return [step, withoutTime(answer)] as const;
    }),
  );
  const ask: Step = { step: 'acquire', token: 'd' };
  const asked = [ask, withoutTime(await take(trial.other, ask, LONG))] as const;
  const isExplained = ordersOf(answered).some(order => states.some(state => explains([...order, asked], state)));
  trial.holds(
    isExplained,
    'The first calls were made at the same time, and then the last one',
    'the answers of these steps one after another, in some order',
  );
}

/** Returns true if steps in this order are answered so. */
function explains(order: readonly (readonly [step: Step, answer: unknown])[], start: LeaseState): boolean {
  let state = start;
  return order.every(([step, answer]) => {
    const [expected, next] = play(state, step);
    state = next;
    return isDeepStrictEqual(answer, expected);
  });
}

/** Returns all groups of three; a group may contain the same item twice, and its order does not count. */
function threeAtOnce<T>(items: readonly T[]): T[][] {
  return items.flatMap((first, at) =>
    items.slice(at).flatMap((second, from) => items.slice(at + from).map(third => [first, second, third])),
  );
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, at) => ordersOf(items.toSpliced(at, 1)).map(rest => [first, ...rest]));
}
