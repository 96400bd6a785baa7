import type { LeaseStore } from '../../../lib';
import { FREE, play, type Answer, type Move } from './lease-model';

/** A lease store whose time a spec can make pass. */
export interface LeaseStoreInTime {
  readonly store: LeaseStore;
  /** Lets everything that is kept under the key run out. */
  expire(key: string): unknown;
  close?(): unknown;
}

const OWNERS = ['a', 'b', 'c'] as const;
const STEPS = ['acquire', 'renew', 'complete', 'release'] as const;
/** Milliseconds: nothing runs out before `expire`. */
const LONG = 60_000;

/** Every order in which three owners can take `depth` steps and time can pass; owners are named in the order in which they come. */
export function* sequences(depth: number, owners = 0): Generator<readonly Move[]> {
  if (depth === 0) {
    yield [];
    return;
  }
  for (const rest of sequences(depth - 1, owners)) yield [{ step: 'expire' }, ...rest];
  for (const [index, token] of OWNERS.slice(0, owners + 1).entries()) {
    for (const step of STEPS)
      for (const rest of sequences(depth - 1, Math.max(owners, index + 1))) yield [{ step, token }, ...rest];
  }
}

/**
 * All interleavings of three owners over acquire, renew, complete, release and expiry, of `depth` moves.
 * @param atOnce sequences that are played at one time, each on a key of its own.
 */
export function leaseStoreSearch(
  name: string,
  make: () => LeaseStoreInTime | Promise<LeaseStoreInTime>,
  { depth, atOnce }: { readonly depth: number; readonly atOnce: number },
): void {
  it(`${name}: every sequence of ${depth} steps of three owners, and of time, goes as it is meant to`, async () => {
    const inTime = await make();
    let count = 0;
    const prefix = `search-${Date.now()}-${Math.random()}-`;
    // What a store opens or makes with its first step is there then.
    await inTime.store.acquire(prefix, 'first', LONG);
    const all = sequences(depth);
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = all.next(); !next.done; next = all.next())
          await follow(inTime, `${prefix}${count++}`, next.value);
      }),
    );
    await inTime.close?.();
    expect(count).toBeGreaterThan(5 ** depth);
  }, 60_000);
}

async function follow({ store, expire }: LeaseStoreInTime, key: string, moves: readonly Move[]): Promise<void> {
  let state = FREE;
  const trace: (readonly [Move, Answer])[] = [];
  // At the end somebody asks who has it.
  for (const move of [...moves, { step: 'acquire', token: 'd' } as const]) {
    const [meant, after] = play(state, move);
    const answer = await make(store, expire, key, move);
    trace.push([move, answer]);
    if (JSON.stringify(answer) !== JSON.stringify(meant))
      throw new Error(`Expected ${JSON.stringify(meant)} at the end of ${JSON.stringify(trace)}`);
    state = after;
  }
  keepsThePromise(trace);
}

async function make(store: LeaseStore, expire: (key: string) => unknown, key: string, move: Move): Promise<Answer> {
  switch (move.step) {
    case 'expire':
      await expire(key);
      return undefined;
    case 'acquire': {
      const acquisition = await store.acquire(key, move.token, LONG);
      return acquisition.kind === 'acquired' ? acquisition : { kind: acquisition.kind, token: acquisition.token };
    }
    case 'release':
      return store.release(key, move.token);
    default:
      return store[move.step](key, move.token, LONG);
  }
}

/**
 * What the steps are for, read off the answers alone: at most one token has the right to run, and none while a run is
 * published; what is published stays until its time is over or its own owner takes it back.
 */
function keepsThePromise(trace: readonly (readonly [Move, Answer])[]): void {
  let holder: string | undefined;
  let published: string | undefined;
  const breaks = (promise: string): never => {
    throw new Error(`${promise}: ${JSON.stringify(trace)}`);
  };
  for (const [move, answer] of trace) {
    if (move.step === 'expire') {
      holder = published = undefined;
      continue;
    }
    const { step, token } = move;
    const isGranted = answer === true || (typeof answer === 'object' && answer.kind === 'acquired');
    if (!isGranted) continue;
    if (holder !== undefined && holder !== token) breaks('Two have the right to run');
    if (published !== undefined && published !== token) breaks('A published run was overwritten');
    if (step === 'acquire' && published !== undefined) breaks('A published run is run again');
    if (step === 'acquire') holder = token;
    if (step === 'complete') [holder, published] = [undefined, token];
    if (step === 'release') holder = published = undefined;
  }
}
