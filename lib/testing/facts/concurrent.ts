import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { LONG, SHORT } from '../check';
import { FREE, play, type Answer, type LeaseState, type Move } from '../lease-model';
import type { KeyView } from '../key-view';
import type { Fact, Trial } from '../trial';

/** A step of one holder. */
type Step = Exclude<Move, { readonly step: 'expire' }>;

/**
 * The steps that are tried at the same time, three at once: those of two holders, and a third one that wants to run.
 */
const STEPS: readonly Step[] = [
  ...['a', 'b'].flatMap(token =>
    (['acquire', 'renew', 'complete', 'release'] as const).map((step): Step => ({ step, token })),
  ),
  { step: 'acquire', token: 'c' },
];

/** State that is stored before the steps, and the steps that store it. */
interface Start {
  readonly title: string;
  readonly prepare: (trial: Trial, ms: number) => Promise<unknown>;
  readonly state: LeaseState;
  readonly expires?: boolean;
}

const lease = ({ one }: Trial, ms: number): Promise<unknown> => one.acquire('a', ms);
const record = ({ one }: Trial, ms: number): Promise<unknown> => one.complete('a', ms);

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

const STARTS: readonly Start[] = [
  { title: 'a free key', prepare: () => Promise.resolve(), state: FREE },
  { title: 'a lease', prepare: lease, state: { kind: 'running', token: 'a' } },
  { title: 'a record', prepare: record, state: { kind: 'done', token: 'a' } },
  { title: 'a lease that has expired', prepare: lease, state: { kind: 'running', token: 'a' }, expires: true },
  { title: 'a record that has expired', prepare: record, state: { kind: 'done', token: 'a' }, expires: true },
];

/** Each step is atomic: a check and a separate write would let two steps pass the check. */
export const concurrentFacts: readonly Fact[] = STARTS.map(({ title, prepare, state, expires = false }): Fact => [
  `are taken one after another on ${title}`,
  async trial => {
    const trials = threeAtOnce(STEPS).flatMap(steps =>
      BEGINNINGS.map(beginnings => ({ steps, beginnings, trial: trial.again() })),
    );
    await Promise.all(trials.map(one => prepare(one.trial, expires ? SHORT : LONG)));
    if (expires) await pause(3 * SHORT);
    // A store may count its time a little later than we do.
    const starts = expires ? [FREE, state] : [state];
    for (let from = 0; from < trials.length; from += AT_ONCE)
      await Promise.all(trials.slice(from, from + AT_ONCE).map(one => takeAtOnce(one, starts)));
  },
]);

/** Steps on one key. */
interface Steps {
  readonly steps: readonly Step[];
  /** When each step begins, in turns of the event loop. */
  readonly beginnings: readonly number[];
  readonly trial: Trial;
}

/** Takes the steps in two processes, and checks that the answers and what is stored then are those of some order. */
async function takeAtOnce({ steps, beginnings, trial }: Steps, starts: readonly LeaseState[]): Promise<void> {
  const { one, other, check } = trial;
  const turns = beginnings.map(turnsLater);
  const answers = await Promise.all(
    steps.map(async (step, index) => {
      await turns[index];
      return answerTo(step, index % 2 ? other : one);
    }),
  );
  const holder = await check.seenHolder();
  const isExplained = ordersOf(steps.map((step, index) => [step, answers[index]] as const)).some(order =>
    starts.some(start => leaves(order, start) === holder),
  );
  check.that(
    isExplained,
    `The steps were taken at the same time, and the key is "${holder}" then`,
    'the answers of these steps one after another, in some order',
  );
}

/** Waits for so many turns of the event loop. */
async function turnsLater(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

async function answerTo({ step, token }: Step, view: KeyView): Promise<Answer> {
  if (step === 'release') return view.release(token);
  if (step !== 'acquire') return view[step](token, LONG);
  const answer = await view.acquire(token, LONG);
  return answer.kind === 'acquired' ? { kind: answer.kind } : { kind: answer.kind, token: answer.token };
}

/** Returns the holder that is left by steps in this order; undefined if they would be answered differently. */
function leaves(order: readonly (readonly [Step, Answer])[], start: LeaseState): string | undefined {
  let state = start;
  for (const [step, answer] of order) {
    const [expected, next] = play(state, step);
    if (!isDeepStrictEqual(answer, expected)) return undefined;
    state = next;
  }
  return state.kind === 'free' ? state.kind : `${state.kind} ${state.token}`;
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
