import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Acquisition, LeaseStore, RunFacts } from '../../lib';
import { leaseStoreContract } from '../../lib/testing';
import { failuresOf } from './collected-suite';

interface Row {
  readonly token: string;
  readonly done: boolean;
  readonly expires: number;
  readonly unknownUntil: number;
}

/** A correct store in memory; the mistakes below are those that are made with databases. */
class Rows {
  readonly rows = new Map<string, Row>();

  async acquire(key: string, token: string, ms: number, about?: RunFacts): Promise<Acquisition> {
    const row = this.valid(key);
    if (row?.done) return { kind: 'done', token: row.token };
    if (row && row.token !== token) {
      const msLeft = row.expires - Date.now();
      return msLeft > 0 ? { kind: 'running', token: row.token, msLeft } : { kind: 'unknown', token: row.token };
    }
    this.write(key, token, false, ms, about?.keepUnknown);
    return { kind: 'acquired' };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    const row = this.valid(key);
    if (row?.token !== token || row.done || row.expires <= Date.now()) return false;
    this.write(key, token, false, ms, row.unknownUntil - Date.now());
    return true;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    const row = this.valid(key);
    if (row && row.token !== token) return false;
    this.write(key, token, true, ms);
    return true;
  }

  async release(key: string, token: string): Promise<boolean> {
    return this.valid(key)?.token === token && this.rows.delete(key);
  }

  async settle(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): Promise<boolean> {
    const row = this.valid(key);
    if (row?.token !== token || row.done || row.expires > Date.now()) return false;
    if (outcome === 'ran') this.write(key, token, true, ms);
    else this.rows.delete(key);
    return true;
  }

  valid(key: string): Row | undefined {
    const row = this.rows.get(key);
    return row && Math.max(row.expires, row.unknownUntil) > Date.now() ? row : undefined;
  }

  write(key: string, token: string, done: boolean, ms: number, keepUnknown = 0): void {
    this.rows.set(key, { token, done, expires: Date.now() + ms, unknownUntil: Date.now() + keepUnknown });
  }
}

/** A database answers a few turns of the event loop later. */
async function roundTrip(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

const MODEL = 'steps are answered as the model does, in every sequence of three, and after a lease that has expired';
const AT_ONCE = 'concurrent steps are taken one after another on a lease';
const KEYS = 'keys are told apart, whatever text they are';
const TOKENS = 'tokens are told apart, whatever text they are';
const EXACT_TIME = 'time is told to the millisecond, by any clock that counts them';
const TEN_YEARS = 'time of ten years is kept by a record';
const FORGOTTEN = 'time that `keepUnknown` says is that of what is unknown, from when the lease was acquired';

/** One mistake: the methods that have it, and a fact of the contract that finds it. `was` has the correct methods. */
type Mistake = readonly [title: string, foundBy: string, (it: Rows, was: Rows) => Partial<Rows>];

const mistakes: readonly Mistake[] = [
  [
    'does not compare the token when it renews',
    MODEL,
    (it, was) => ({ renew: (key, _token, ms) => was.renew(key, it.valid(key)?.token ?? '', ms) }),
  ],
  ['releases the lease of another token', MODEL, it => ({ release: async key => it.rows.delete(key) })],
  [
    'forgets that the run is done',
    MODEL,
    (_it, was) => ({ write: (key, token, _done, ms, ...more) => was.write(key, token, false, ms, ...more) }),
  ],
  ['keeps a lease that has expired', MODEL, it => ({ valid: key => it.rows.get(key) })],
  [
    'takes an expired lease over in two steps',
    `${AT_ONCE} that has expired`,
    (it, was) => ({
      async acquire(key, token, ms, about) {
        if (!it.rows.has(key) || it.valid(key)) return was.acquire(key, token, ms, about);
        await roundTrip();
        it.write(key, token, false, ms, about?.keepUnknown);
        return { kind: 'acquired' };
      },
    }),
  ],
  [
    'looks for its own lease, and then releases what is there',
    AT_ONCE,
    it => ({
      async release(key, token) {
        const row = it.valid(key);
        await roundTrip();
        return row?.token === token && it.rows.delete(key);
      },
    }),
  ],
  [
    'lets a timer of more than 2^31 - 1 ms, which fires at once, remove its record',
    TEN_YEARS,
    (it, was) => ({
      write(key, token, done, ms, ...more) {
        was.write(key, token, done, ms, ...more);
        if (ms >= 2 ** 31) setTimeout(() => it.rows.delete(key), 1);
      },
    }),
  ],
  [
    'counts whole seconds',
    EXACT_TIME,
    (_it, was) => ({
      write: (key, token, done, ms, ...more) => was.write(key, token, done, Math.floor(ms / 1_000) * 1_000, ...more),
    }),
  ],
  [
    'compares keys without case',
    KEYS,
    (_it, was) => ({ acquire: (key, ...more) => was.acquire(key.toLowerCase(), ...more) }),
  ],
  [
    'ignores blanks at the end of tokens',
    TOKENS,
    (_it, was) => ({
      acquire: (key, token, ...more) => was.acquire(key, token.trimEnd(), ...more),
      complete: (key, token, ms) => was.complete(key, token.trimEnd(), ms),
    }),
  ],
  [
    'forgets what is unknown',
    MODEL,
    (_it, was) => ({ write: (key, token, done, ms) => was.write(key, token, done, ms) }),
  ],
  [
    'never forgets what is unknown',
    FORGOTTEN,
    (_it, was) => ({
      acquire: (key, token, ms, about) => was.acquire(key, token, ms, about && { ...about, keepUnknown: 1e9 }),
    }),
  ],
  [
    'settles a lease that has not ended',
    MODEL,
    it => ({
      async settle(key, token, outcome, ms) {
        if (it.valid(key)?.token !== token) return false;
        if (outcome === 'ran') it.write(key, token, true, ms);
        else it.rows.delete(key);
        return true;
      },
    }),
  ],
];

/** Makes a store, with mistakes. */
function storeWith(change: Mistake[2]): Rows {
  const it = new Rows();
  const methods = ['acquire', 'renew', 'complete', 'release', 'write'].map(name => [
    name,
    (it[name as keyof Rows] as () => unknown).bind(it),
  ]);
  return Object.assign(it, change(it, Object.fromEntries(methods) as Rows));
}

/** Runs the contract. @returns the message of each fact that fails. */
const failuresIn = (store: LeaseStore): Promise<Record<string, string>> =>
  failuresOf(runner => {
    leaseStoreContract('a store', () => ({ one: store, other: store }), { runner });
  });

const correct: readonly (readonly [title: string, change: Mistake[2]])[] = [
  ['a correct store', () => ({})],
  ['a correct store that cannot settle', () => ({ settle: undefined }) as Partial<Rows>],
];

describe('the contract of lease stores', () => {
  const failures = new Map<string, Record<string, string>>();

  // All at the same time: the suites spend most of it waiting.
  beforeAll(async () => {
    const all = [...correct, ...mistakes.map(([title, , change]) => [title, change] as const)];
    await Promise.all(all.map(async ([title, change]) => failures.set(title, await failuresIn(storeWith(change)))));
  }, 120_000);

  it.each(correct)('is met by %s', title => {
    expect(failures.get(title)).toEqual({});
  });

  it.each(mistakes)('is not met by a store that %s', (title, foundBy) => {
    expect(Object.keys(failures.get(title) ?? {})).toContain(foundBy);
  });

  it('names the calls that led to a failure', () => {
    expect(failures.get('releases the lease of another token')?.[MODEL]).toMatch(
      /^The store breaks a promise: steps are answered .*\.\n {2}The last call answered .*; expected .*\.\n {2}Calls:\n[^]*(one|other)\..*$/,
    );
  });
});
