import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { LeaseStore } from '../idempotency/leases/lease-store';
import { LONG } from './check';
import { acquisition, shown } from './key-view';
import { FREE, play, type Answer, type Move } from './lease-model';

/** A lease store, and a way to let time pass in it. */
export interface LeaseStoreInTime {
  readonly store: LeaseStore;
  /**
   * Lets everything that is stored under the key expire: moves its time of expiry, or advances a fake clock by more
   * than a minute.
   */
  expire(key: string): unknown;
  /** Called after the test. */
  close?(): unknown;
}

/** A move, and what the store answered. */
type Played = readonly [Move, Answer];

/** Plays moves on one key of a store. @throws AssertionError that names the moves, and the answer that is wrong. */
export async function playSequence(inTime: LeaseStoreInTime, key: string, moves: readonly Move[]): Promise<void> {
  let state = FREE;
  const played: Played[] = [];
  // In the end, another token asks who holds the lease.
  for (const move of [...moves, { step: 'acquire', token: 'd' } as const]) {
    const [expected, next] = play(state, move);
    const answer = await make(inTime, key, move);
    played.push([move, answer]);
    if (!isDeepStrictEqual(answer, expected)) throw broken(`the last step must answer ${shown(expected)}`, played);
    state = next;
  }
  checkPromises(played);
}

async function make(inTime: LeaseStoreInTime, key: string, move: Move): Promise<Answer> {
  const { store } = inTime;
  switch (move.step) {
    case 'expire':
      await inTime.expire(key);
      return undefined;
    case 'acquire': {
      const answer = acquisition(await store.acquire(key, move.token, LONG));
      return answer.kind === 'acquired' ? { kind: answer.kind } : { kind: answer.kind, token: answer.token };
    }
    case 'release':
      return store.release(key, move.token);
    case 'renew':
    case 'complete':
      return store[move.step](key, move.token, LONG);
  }
}

/**
 * Checks the purpose of the steps by their answers alone, without the model: at most one token has the right to run,
 * and none while a run is published; what is published stays until it expires or its own token takes it back.
 */
function checkPromises(played: readonly Played[]): void {
  let holder: string | undefined;
  let published: string | undefined;
  for (const [move, answer] of played) {
    if (move.step === 'expire') {
      holder = published = undefined;
      continue;
    }
    const { step, token } = move;
    const isGranted = answer === true || (typeof answer === 'object' && answer.kind === 'acquired');
    if (!isGranted) continue;
    if (holder !== undefined && holder !== token) throw broken('at most one token has the right to run', played);
    if (published !== undefined && published !== token) throw broken('a record is never overwritten', played);
    if (published !== undefined && step === 'acquire') throw broken('a run that is done does not run again', played);
    if (step === 'acquire') holder = token;
    if (step === 'complete') [holder, published] = [undefined, token];
    if (step === 'release') holder = published = undefined;
  }
}

function broken(promise: string, played: readonly Played[]): AssertionError {
  const steps = played.map(([move, answer]) =>
    move.step === 'expire' ? 'what is stored expires' : `${move.step} by "${move.token}" → ${shown(answer)}`,
  );
  const message = [`The lease store breaks a promise: ${promise}.`, 'Steps:', ...steps].join('\n  ');
  return new AssertionError({ message, stackStartFn: broken });
}
