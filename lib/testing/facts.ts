import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { FREE, moveSequences, play, stepsOf, type Answer, type LeaseState, type Move, type Step } from './lease-model';
import { ASK, LONG, playAll, playSequence, type Trial } from './trial';

/** Tries whether a store keeps a promise of the contract. */
type Fact = (trial: Trial) => Promise<void>;

/** Milliseconds: a lease that expires, and for a second try, since a process may have stood still meanwhile. */
const [SHORT, LONGER] = [100, 4_000];
/** Milliseconds by which the time of a store may differ from ours. */
const TOLERANCE = 100;
/** Milliseconds: the longest time for which bindonce keeps a record. */
const TEN_YEARS = 315_360_000_000;
/** Keys that are tried at one time: most of the time, they wait. */
const AT_ONCE = 40;

const step = (name: Step['step'], token: string): Step => ({ step: name, token });

/** Plays every sequence of three moves, and of two after a lease that has expired, in real time. */
async function playsTheModel(trial: Trial): Promise<void> {
  const late = [...moveSequences(2, 1)].map((rest): Move[] => [step('acquire', 'a'), { step: 'expire' }, ...rest]);
  await playAll([...moveSequences(3), ...late], AT_ONCE, moves => {
    const playWith = (short: number): Promise<void> => {
      const before = (move: Move): unknown => (move.step === 'expire' || move === ASK) && pause(short + TOLERANCE);
      return playSequence(trial.again(), moves, before, timesOf(moves, short));
    };
    return playWith(SHORT).catch(() => playWith(LONGER));
  });
}

/**
 * Returns the milliseconds for each move, so that only the last step which is granted before time passes decides
 * whether something expires then: all others, the refused ones too, say otherwise. At the end, nothing expires.
 */
function timesOf(moves: readonly Move[], short: number): number[] {
  let state = FREE;
  const granted = moves.map(move => {
    const [answer, next] = play(state, move);
    state = next;
    return isGranted(answer);
  });
  return moves.map((_move, index) => {
    const end = moves.findIndex(({ step: name }, later) => later > index && name === 'expire');
    const isLast = granted[index] && !granted.slice(index + 1, end < 0 ? undefined : end).includes(true);
    return isLast === end >= 0 ? short : LONG;
  });
}

/** Steps of two holders, and of a third one that wants to run. */
const CONCURRENT = [...stepsOf(['a', 'b']), step('acquire', 'c')];
const THREES = CONCURRENT.flatMap((first, at) =>
  CONCURRENT.slice(at).flatMap((second, from) => CONCURRENT.slice(at + from).map(third => [first, second, third])),
);
const CALLERS = Array.from({ length: 200 }, (_, index) => step('acquire', `caller ${index}`));

/** What is stored before steps that are taken at the same time, by which step, and whether that has expired. */
const STARTS: readonly (readonly [title: string, start: Step | undefined, hasExpired: boolean])[] = [
  ['a free key', undefined, false],
  ['a lease', step('acquire', 'a'), false],
  ['a record', step('complete', 'a'), false],
  ['a lease that has expired', step('acquire', 'a'), true],
  ['a record that has expired', step('complete', 'a'), true],
];

const concurrentFacts = STARTS.map(([title, start, hasExpired]): [string, Fact] => {
  const held = start ? play(FREE, start)[1] : FREE;
  // A store may count its time a little later than we do.
  const states = hasExpired ? [FREE, held] : [held];
  const fact: Fact = async trial => {
    // A step that begins some turns of the event loop later may fall between the two parts of another.
    const groups = [0, 1, 2].flatMap(turns => THREES.map(steps => ({ steps, turns, on: trial.again() })));
    groups.push({ steps: CALLERS, turns: 0, on: trial.again() });
    if (start) await Promise.all(groups.map(({ on }) => on.take('one', start, hasExpired ? SHORT : LONG)));
    if (hasExpired) await pause(SHORT + TOLERANCE);
    await playAll(groups, AT_ONCE, ({ steps, turns, on }) => takeAtOnce(on, steps, turns, states));
  };
  return [`concurrent steps are taken one after another on ${title}`, fact];
});

type Answered = readonly [step: Step, answer: Answer];

/** Takes steps in two processes, and checks that the answers and what is stored then are those of some order. */
async function takeAtOnce(
  trial: Trial,
  steps: readonly Step[],
  turns: number,
  states: readonly LeaseState[],
): Promise<void> {
  const answered = await Promise.all(
    steps.map(async (one, index): Promise<Answered> => {
      for (let turn = 0; turn < turns * index; turn++) await nextTurn();
      return [one, await trial.answerTo(index % 2 ? 'other' : 'one', one)];
    }),
  );
  const last: Answered = [ASK, await trial.answerTo('other', ASK)];
  trial.holds(
    states.some(state => areExplained(answered, last, state)),
    'The first calls were made at the same time, and then the last one',
    'the answers of these steps one after another, in some order',
  );
}

/** Returns true if the model answers so in some order of the steps, of which only the last one is known. */
function areExplained(steps: readonly Answered[], last: Answered, state: LeaseState): boolean {
  /** The state that a step leaves; undefined if its answer was another one. */
  const after = ([one, answer]: Answered): LeaseState | undefined => {
    const [expected, next] = play(state, one);
    return isDeepStrictEqual(answer, expected) ? next : undefined;
  };
  // A step that is refused changes nothing in any state, so it may as well have been the first.
  const left = steps.filter(one => isGranted(one[1]) || !after(one));
  if (left.length === 0) return after(last) !== undefined;
  return left.some((one, at) => {
    const next = after(one);
    return next && areExplained(left.toSpliced(at, 1), last, next);
  });
}

const isGranted = (answer: Answer): boolean => answer === true || isDeepStrictEqual(answer, { kind: 'acquired' });

/** Texts that some databases take for equal: by a collation, a limit of length, or blanks that do not count. */
const ALIKE = [
  ['k', 'K'],
  ['k', 'k '],
  ['k', ' k'],
  ['e', 'é'],
  ['\u00e9', 'e\u0301'],
  [`${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`],
  ...['', ' ', 'a:b', 'r:a', 'd:a', 'a.b', 'ü🦉', 'done', 'any.0'].map(odd => [odd, `${odd}.`] as const),
] as const;
const ODD_KEYS = ['\0', '__proto__', '{a}', '*', 'x'.repeat(2_000)].map(odd => [odd, `${odd}.`] as const);

/** Facts of all stores, with `watch` or without, by the promise that is tried. */
export const storeFacts: Readonly<Record<string, Fact>> = {
  'steps are answered as the model does, in every sequence of three, and after a lease that has expired': playsTheModel,
  // Each step is atomic: a check and a separate write would let two steps pass the check.
  ...Object.fromEntries(concurrentFacts),
  'keys are told apart, whatever text they are': async trial => {
    for (const [first, second] of [...ALIKE, ...ODD_KEYS]) {
      const pair = trial.again();
      await pair.at(first).expect({ kind: 'acquired' }, 'one', step('acquire', 'a'));
      await pair.at(first).expect({ kind: 'running', token: 'a' }, 'other', step('acquire', 'b'));
      await pair.at(second).expect({ kind: 'acquired' }, 'other', step('acquire', 'b'));
    }
  },
  'tokens are told apart, whatever text they are': async trial => {
    for (const [first, second] of ALIKE) {
      const moves = [step('acquire', first), ...stepsOf([second]), step('complete', first)];
      await playSequence(trial.again(), moves, () => undefined);
    }
  },
  'time is told to the millisecond, by any clock that counts them': async trial => {
    const ms = 9_999;
    // An answer that comes late proves little, so a busy process asks again.
    for (let attempt = 1, passed = Infinity; passed > TOLERANCE && attempt <= 20; attempt++) {
      const here = trial.again();
      const asked = performance.now();
      await here.take('one', step('acquire', 'a'), ms);
      const { msLeft = -Infinity } = Object(await here.take('other', step('acquire', 'b'))) as { msLeft?: number };
      passed = performance.now() - asked;
      const least = ms - passed - TOLERANCE;
      const expected = `at least ${Math.floor(least)}, at most ${ms}`;
      here.holds(msLeft >= least && msLeft <= ms, `msLeft is ${msLeft}`, expected);
    }
  },
  'time of ten years is kept by a record': async trial => {
    await trial.take('one', step('acquire', 'a'));
    await trial.expect(true, 'one', step('complete', 'a'), TEN_YEARS);
    // A timer of Node that is to take more than 2^31 - 1 ms fires at once.
    await pause(1_200);
    await trial.expect({ kind: 'done', token: 'a' }, 'other', step('acquire', 'b'));
    // No row of a test should stay in a database for so long.
    await trial.take('one', step('release', 'a'));
  },
};

export const watchFacts: Readonly<Record<string, Fact>> = {
  'watchers in all processes hear, until they stop, that a run was completed, when others can see it': trial =>
    expectHeard(trial, 'complete', { kind: 'done', token: 'a' }),
  'watchers in all processes hear, until they stop, that a run was released, when others can see it': trial =>
    expectHeard(trial, 'release', { kind: 'acquired' }),
};

/** @param visible what another token is answered after the end. */
async function expectHeard(trial: Trial, end: Step['step'], visible: Answer): Promise<void> {
  const heard = new Set<number>();
  const watchers = (['one', 'other', 'other'] as const).map((view, index) => {
    const hear = async (): Promise<void> => {
      // A call that comes too early is allowed if another one follows.
      if (isDeepStrictEqual(await trial.answerTo('other', step('acquire', 'b')), visible)) heard.add(index);
    };
    return [view, () => void hear().catch(() => undefined)] as const;
  });
  let callsAfterStop = 0;
  const stopped = ['one', () => callsAfterStop++] as const;
  await trial.take('one', step('acquire', 'a'));
  (await trial.watch(...stopped))();
  const stops = await Promise.all(watchers.map(([view, onChange]) => trial.watch(view, onChange)));
  // One watch that stops ends no other one, not even with the same function.
  for (const [view, onChange] of [stopped, ...watchers]) (await trial.watch(view, onChange))();
  // A call before that comes too often, which is allowed.
  callsAfterStop = 0;
  await trial.take('other', step(end, 'a'));
  await trial.notified(() => heard.size === watchers.length);
  for (const stop of stops) stop();
  trial.holds(callsAfterStop === 0, 'onChange was called after its watch was stopped', 'no call');
}
