import { setTimeout as pause } from 'node:timers/promises';
import { FREE, moveSequences, play, take, type Move } from './lease-model';
import { LONG, type Fact, type Trial } from './trial';

/** Asks who holds the key, at the end of each sequence. */
const ASK: Move = { step: 'acquire', token: 'd' };

/** Plays every sequence, so many at one time, until one fails. */
export async function playAll(
  sequences: Iterator<readonly Move[]>,
  atOnce: number,
  playOne: (moves: readonly Move[]) => Promise<void>,
): Promise<void> {
  let hasFailed = false;
  const players = Array.from({ length: atOnce }, async () => {
    try {
      for (let next = sequences.next(); !next.done && !hasFailed; next = sequences.next()) await playOne(next.value);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  // The store is closed only when no player uses it any more.
  const failed = (await Promise.allSettled(players)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/**
 * Plays moves on the key of a trial, in two views by turns, and compares each answer with the model.
 * @param expire lets what is stored expire.
 * @param times the milliseconds of each move.
 */
export async function playSequence(
  trial: Trial,
  moves: readonly Move[],
  expire: (index: number) => unknown,
  times: readonly number[] = [],
): Promise<void> {
  let state = FREE;
  for (const [index, move] of [...moves, ASK].entries()) {
    const [expected, next] = play(state, move);
    state = next;
    if (move.step === 'expire' || move === ASK) await expire(index);
    if (move.step === 'expire') trial.calls.push('what is stored expires');
    else trial.answers(await take(index % 2 ? trial.other : trial.one, move, times[index] ?? LONG), expected);
  }
}

/** Sequences that are played at one time, each on a key of its own: most of the time, they wait. */
const AT_ONCE = 40;
/** Milliseconds of a lease that expires, and for a second try, since a process may have stood still meanwhile. */
const [SHORT, LONGER] = [100, 4_000];
/** Milliseconds by which a store may count its time later than we do. */
const TOLERANCE = 100;

/** Plays sequences in real time. */
export const sequenceFacts: readonly Fact[] = [
  [
    'are answered as the model does, in every sequence of three, and after a lease that has expired',
    async trial => {
      const late = [...moveSequences(2, 1)].map(rest => [{ step: 'acquire', token: 'a' }, { step: 'expire' }, ...rest]);
      const sequences = [...moveSequences(3), ...(late as Move[][])];
      await playAll(sequences.values(), AT_ONCE, moves => {
        const playWith = (short: number): Promise<void> =>
          playSequence(trial.again(), moves, () => pause(short + TOLERANCE), timesOf(moves, short));
        return playWith(SHORT).catch(() => playWith(LONGER));
      });
    },
  ],
];

/**
 * Returns the milliseconds for each move, so that only the last step which is granted before time passes decides
 * whether something expires then: all others, the refused ones too, say otherwise. At the end, nothing expires.
 */
function timesOf(moves: readonly Move[], short: number): number[] {
  let state = FREE;
  const granted = moves.map(move => {
    const [answer, next] = play(state, move);
    state = next;
    return answer === true || (typeof answer === 'object' && answer.kind === 'acquired');
  });
  return moves.map((_move, index) => {
    const end = moves.findIndex(({ step }, later) => later > index && step === 'expire');
    const isLast = granted[index] && !granted.slice(index + 1, end < 0 ? undefined : end).includes(true);
    return isLast === end >= 0 ? short : LONG;
  });
}
