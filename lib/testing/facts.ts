import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { RecordedResponse } from '../idempotency/responses/recorded-response';
import type { Store } from '../idempotency/stores/store';
import * as model from './lease-model';
import { step, type Answer, type LeaseState, type Move, type Step } from './lease-model';
import { ASK, LONG, playAll, playSequence, type StoreUnderTest, type Trial } from './trial';

/** Tries whether a store keeps a promise of the contract. */
type Fact = (trial: Trial) => Promise<void>;

/** Milliseconds: a lease that expires, and for a second try, since a process may have stood still meanwhile. */
const [SHORT, LONGER] = [100, 4_000];
/** Milliseconds by which the time of a store may differ from ours. */
const TOLERANCE = 100;
/** Milliseconds: the longest time for which bindonce keeps a record. */
const TEN_YEARS = 315_360_000_000;

const keeps = ({ keepUnknown }: Trial): boolean => keepUnknown !== undefined;

/** Plays every sequence of three moves, and of two after a lease that has expired, in real time. */
async function playsTheModel(trial: Trial): Promise<void> {
  for (const mode of trial.modes) {
    const begin: readonly Move[] = [step('acquire', 'a'), { step: 'expire' }];
    const late = [...model.moveSequences(2, keeps(mode), 1)].map(rest => [...begin, ...rest]);
    await playAll([...model.moveSequences(keeps(mode) ? 2 : 3, keeps(mode)), ...late], moves => {
      const playWith = (short: number): Promise<void> =>
        playSequence(mode.again(), moves, short + TOLERANCE, timesOf(moves, short, keeps(mode)));
      return playWith(SHORT).catch(() => playWith(LONGER));
    });
  }
}

/**
 * Returns the milliseconds for each move, so that only the last step which is granted before time passes decides
 * whether something expires then: all others, the refused ones too, say otherwise. At the end, nothing expires.
 */
function timesOf(moves: readonly Move[], short: number, isKept: boolean): number[] {
  let state: LeaseState = model.FREE;
  const granted = moves.map(move => {
    const [answer, next] = model.play(state, move, isKept);
    state = next;
    return isGranted(answer);
  });
  return moves.map((_move, index) => {
    const end = moves.findIndex(({ step: name }, later) => later > index && name === 'expire');
    const isLast = granted[index] && !granted.slice(index + 1, end < 0 ? undefined : end).includes(true);
    return isLast === end >= 0 ? short : LONG;
  });
}

/** Steps of two holders, and of a third one that wants to run; and those of runs that can be unknown. */
const CONCURRENT = [...model.stepsOf(['a', 'b']), step('acquire', 'c')];
const KEEPING = [...model.stepsOf(['a'], true), step('complete', 'b'), step('acquire', 'c')];
const CALLERS = Array.from({ length: 200 }, (_, index) => step('acquire', `caller ${index}`));

const threesOf = (steps: readonly Step[]): Step[][] =>
  steps.flatMap((first, at) =>
    steps.slice(at).flatMap((second, from) => steps.slice(at + from).map(third => [first, second, third])),
  );

/** What is stored before steps that are taken at the same time, by which step, and whether that has expired. */
const STARTS: readonly (readonly [title: string, start: Step | undefined, hasExpired: boolean])[] = [
  ['a free key', undefined, false],
  ['a lease', step('acquire', 'a'), false],
  ['a record', step('complete', 'a'), false],
  ['a lease that has expired', step('acquire', 'a'), true],
  ['a record that has expired', step('complete', 'a'), true],
];

/** Takes every three steps at the same time, on a key each, and the calls of many holders on one. */
async function areTakenInSomeOrder(trial: Trial, start: Step | undefined, hasExpired: boolean): Promise<void> {
  for (const mode of trial.modes) {
    const held = start ? model.play(model.FREE, start, keeps(mode))[1] : model.FREE;
    // A store may count its time a little later than we do.
    const states = hasExpired ? [model.play(held, { step: 'expire' }, keeps(mode))[1], held] : [held];
    // A step that begins some turns of the event loop later may fall between the two parts of another.
    const threes = threesOf(keeps(mode) ? KEEPING : CONCURRENT);
    const groups = [0, 1, 2].flatMap(turns => threes.map(steps => ({ steps, turns, on: mode.again() })));
    groups.push({ steps: CALLERS, turns: 0, on: mode.again() });
    if (start) await Promise.all(groups.map(({ on }) => on.take('one', start, hasExpired ? SHORT : LONG)));
    if (hasExpired) await pause(SHORT + TOLERANCE);
    await playAll(groups, ({ steps, turns, on }) => takeAtOnce(on, steps, turns, states));
  }
}

type Answered = readonly [step: Step, answer: Answer];

/** Takes steps in two processes, and checks that the answers and what is stored then are those of some order. */
async function takeAtOnce(trial: Trial, steps: readonly Step[], turns: number, states: readonly LeaseState[]) {
  const answered = await Promise.all(
    steps.map(async (one, index): Promise<Answered> => {
      for (let turn = 0; turn < turns * index; turn++) await nextTurn();
      return [one, await trial.answerTo(index % 2 ? 'other' : 'one', one)];
    }),
  );
  const last: Answered = [ASK, await trial.answerTo('other', ASK)];
  if (!states.some(state => areExplained(answered, last, state, keeps(trial))))
    trial.fail('The first calls were made at the same time, and then the last one', 'the answers of some order');
}

/** Returns true if the model answers so in some order of the steps, of which only the last one is known. */
function areExplained(steps: readonly Answered[], last: Answered, state: LeaseState, isKept: boolean): boolean {
  /** The state that a step leaves; undefined if its answer was another one. */
  const after = ([one, answer]: Answered): LeaseState | undefined => {
    const [expected, next] = model.play(state, one, isKept);
    return isDeepStrictEqual(answer, expected) ? next : undefined;
  };
  // A step that is refused changes nothing in any state, so it may as well have been the first.
  const left = steps.filter(one => isGranted(one[1]) || !after(one));
  if (left.length === 0) return after(last) !== undefined;
  return left.some((one, at) => {
    const next = after(one);
    return next && areExplained(left.toSpliced(at, 1), last, next, isKept);
  });
}

const isGranted = (answer: Answer): boolean => answer === true || isDeepStrictEqual(answer, { kind: 'acquired' });

/** Texts that some databases take for equal: by a collation, a limit of length, or blanks that do not count. */
const ALIKE: readonly (readonly string[])[] = [
  ...['k|K', 'k|k ', 'k| k', 'e|é', '\u00e9|e\u0301'].map(pair => pair.split('|')),
  [1, 2].map(end => 'x'.repeat(300) + String(end)),
  ...['', ' ', 'a:b', 'r:a', 'd:a', 'u:1:a', 'a.b', 'ü🦉', 'done', 'any.0'].map(odd => [odd, `${odd}.`]),
];
const ODD_KEYS = ['\0', '__proto__', '{a}', '*', 'x'.repeat(2_000)].map(odd => [odd, `${odd}.`]);

/** Facts of lease stores, by the promise that is tried. */
export const leaseFacts: Readonly<Record<string, Fact>> = {
  'steps are answered as the model does, in every sequence of three, and after a lease that has expired': playsTheModel,
  // Each step is atomic: a check and a separate write would let two steps pass the check.
  ...Object.fromEntries(
    STARTS.map(([title, start, hasExpired]): [string, Fact] => [
      `concurrent steps are taken one after another on ${title}`,
      trial => areTakenInSomeOrder(trial, start, hasExpired),
    ]),
  ),
  'keys are told apart, whatever text they are': async trial => {
    for (const [index, texts] of [...ALIKE, ...ODD_KEYS].entries()) {
      const [one, other] = texts.map(text => trial.again(undefined, `${trial.key}${index}${text}`)) as [Trial, Trial];
      await one.expect({ kind: 'acquired' }, 'one', step('acquire', 'a'));
      await one.expect({ kind: 'running', token: 'a' }, 'other', step('acquire', 'b'));
      await other.expect({ kind: 'acquired' }, 'other', step('acquire', 'b'));
    }
  },
  'tokens are told apart, whatever text they are': async trial => {
    for (const [first = '', second = ''] of ALIKE) {
      const moves = [step('acquire', first), ...model.stepsOf([second]), step('complete', first)];
      await playSequence(trial.again(), moves);
    }
  },
  'time is told to the millisecond, by any clock that counts them': async trial => {
    const ms = 9_999;
    const asked = performance.now();
    await trial.take('one', step('acquire', 'a'), ms);
    const { msLeft = -Infinity } = Object(await trial.take('other', step('acquire', 'b'))) as { msLeft?: number };
    const least = ms - (performance.now() - asked) - TOLERANCE;
    if (!(msLeft >= least && msLeft <= ms)) trial.fail(`msLeft is ${msLeft}`, `at least ${least}, at most ${ms}`);
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
  'time that `keepUnknown` says is that of what is unknown, from when the lease was acquired': async trial => {
    if (trial.modes.length === 1) return;
    const short = trial.again(2 * SHORT);
    await short.take('one', step('acquire', 'a'), SHORT);
    await pause(2 * SHORT + TOLERANCE);
    await short.expect({ kind: 'acquired' }, 'other', step('acquire', 'b'));
  },
  'runs are listed, the newest first, and shown, if the store has `list`': async trial => {
    const { one, other } = trial.stores;
    if (!other.list) return;
    const asked = { path: `/${trial.key}`, keyHash: trial.key };
    const [key = '', ...later] = ['1', '2', '3'].map(number => trial.key + number);
    for (const [index, each] of [key, ...later].entries())
      await one.acquire(each, 'a', LONG, { ...asked, method: 'POST', created: Date.now() + index });
    await one.complete(key, 'a', LONG);
    const first = await other.list({ ...asked, limit: 2 });
    const second = await other.list({ ...asked, limit: 2, after: first.after });
    const done = await other.list({ keyHash: trial.key, state: 'done', limit: 2 });
    // A driver that jest loads outside of its context makes arrays of another realm.
    const found = [first, second, done].map(({ items }) =>
      Array.from(items, ({ cacheKey, state }) => [cacheKey, state]),
    );
    const running = later.toReversed().map(each => [each, 'running']);
    trial.equal(found, [running, [[key, 'done']], [[key, 'done']]], 'list() answers');
    trial.equal((await other.get?.(key))?.state, 'done', 'get() answers with the state');
  },
};

const HEADERS = [['X-Text', 'ü "\\ \u2028'] as const, ['Set-Cookie', ['a=1', 'b=2']] as const];
const BODY = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const RESPONSE: RecordedResponse = { status: 201, reason: 'Made', headers: HEADERS, body: BODY, trailers: HEADERS };

async function expectResponse(trial: Trial, { responses }: Store, token: string, expected?: RecordedResponse) {
  trial.equal(await responses.get(trial.key, token, LONG), expected, `The response of ${token} is`);
}

/** Facts of stores that hold both, by the promise that is tried. */
export const responseFacts: Readonly<Record<string, (of: Trial, stores: StoreUnderTest) => Promise<void>>> = {
  'a response is read as it was written, under its own key and token': async (trial, { one, other }) => {
    for (const token of ['a', 'b']) await one.responses.set(trial.key, token, RESPONSE, LONG);
    await expectResponse(trial, other, 'a', RESPONSE);
    await expectResponse(trial, other, 'c');
    await expectResponse(trial.again(), other, 'a');
    await other.responses.delete(trial.key, 'a');
    await expectResponse(trial, one, 'a');
    await expectResponse(trial, one, 'b', RESPONSE);
  },
  'commit() marks the run done and keeps its response, if its token has the key': async (trial, stores) => {
    const { one, other } = stores;
    if (!one.commit) return;
    const expectRows = async (token: string, expected: number): Promise<void> => {
      const statement = one.commit?.(trial.key, token, RESPONSE, LONG);
      const rows = await stores.execute?.(statement?.text ?? '', statement?.values ?? []);
      trial.equal(rows?.length, expected, `execute(), which runs the statement of ${token}, returns rows:`);
    };
    await expectRows('a', 0);
    await trial.take('one', step('acquire', 'a'));
    await expectRows('b', 0);
    await trial.expect({ kind: 'running', token: 'a' }, 'other', step('acquire', 'b'));
    await expectRows('a', 1);
    await trial.expect({ kind: 'done', token: 'a' }, 'other', step('acquire', 'b'));
    await expectResponse(trial, other, 'a', RESPONSE);
    await expectRows('a', 0);
  },
};
