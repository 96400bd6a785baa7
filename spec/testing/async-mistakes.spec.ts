import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Acquisition, LeaseStore } from '../../lib';
import { leaseStoreContract } from '../../lib/testing';
import { failuresOf } from './collected-suite';

interface Row {
  readonly token: string;
  readonly done: boolean;
  readonly expires: number;
}

/** A correct store in memory; the mistakes below are those that are made with databases. */
class Rows implements LeaseStore {
  protected readonly rows = new Map<string, Row>();
  protected readonly watchers = new Map<object, readonly [key: string, onChange: () => void]>();

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const row = this.valid(key);
    if (row?.done) return { kind: 'done', token: row.token };
    if (row && row.token !== token) return { kind: 'running', token: row.token, msLeft: row.expires - Date.now() };
    this.write(key, token, false, ms);
    return { kind: 'acquired' };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    const row = this.valid(key);
    if (row?.token !== token || row.done) return false;
    this.write(key, token, false, ms);
    return true;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    const row = this.valid(key);
    if (row && row.token !== token) return false;
    this.write(key, token, true, ms);
    this.notify(key);
    return true;
  }

  async release(key: string, token: string): Promise<boolean> {
    if (this.valid(key)?.token !== token) return false;
    this.rows.delete(key);
    this.notify(key);
    return true;
  }

  async watch(key: string, onChange: () => void): Promise<() => void> {
    const watch = {};
    this.watchers.set(watch, [key, onChange]);
    return () => this.watchers.delete(watch);
  }

  protected valid(key: string): Row | undefined {
    const row = this.rows.get(key);
    return row && row.expires > Date.now() ? row : undefined;
  }

  protected write(key: string, token: string, done: boolean, ms: number): void {
    this.rows.set(key, { token, done, expires: Date.now() + ms });
  }

  protected notify(key: string): void {
    for (const [watched, onChange] of [...this.watchers.values()]) if (watched === key) onChange();
  }
}

/** Correct, too: one notification for all keys, as some databases have it. */
class CoarseRows extends Rows {
  protected override notify(): void {
    for (const [, onChange] of [...this.watchers.values()]) onChange();
  }
}

/** A database answers a few turns of the event loop later. */
async function roundTrip(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** The sequences of the model, in real time. */
const MODEL = 'steps are answered as the model does, in every sequence of three, and after a lease that has expired';

/** The class of a store with one mistake, and a fact of the contract that finds it. */
type Mistake = readonly [title: string, Store: new () => LeaseStore, foundBy: string];

const mistakes: readonly Mistake[] = [
  [
    'takes an expired lease over in two steps',
    class extends Rows {
      override async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
        if (!this.rows.has(key) || this.valid(key)) return super.acquire(key, token, ms);
        await roundTrip();
        this.write(key, token, false, ms);
        return { kind: 'acquired' };
      }
    },
    'concurrent steps give a lease that has expired to one of 20 callers',
  ],
  [
    'looks for another holder, and then completes',
    class extends Rows {
      override async complete(key: string, token: string, ms: number): Promise<boolean> {
        const row = this.valid(key);
        await roundTrip();
        if (row && row.token !== token) return false;
        this.write(key, token, true, ms);
        return true;
      }
    },
    'concurrent steps are taken one after another on a lease that has expired',
  ],
  [
    'looks for its own lease, and then releases what is there',
    class extends Rows {
      override async release(key: string, token: string): Promise<boolean> {
        const row = this.valid(key);
        await roundTrip();
        return row?.token === token && this.rows.delete(key);
      }
    },
    'concurrent steps are taken one after another on a lease',
  ],
  [
    'looks for its own lease, and then renews',
    class extends Rows {
      override async renew(key: string, token: string, ms: number): Promise<boolean> {
        const row = this.valid(key);
        await roundTrip();
        if (row?.token !== token || row.done) return false;
        this.write(key, token, false, ms);
        return true;
      }
    },
    'concurrent steps are taken one after another on a lease',
  ],
  [
    'extends the record of its own run when it renews',
    class extends Rows {
      override async renew(key: string, token: string, ms: number): Promise<boolean> {
        const row = this.valid(key);
        if (row?.token === token) this.write(key, token, row.done, ms);
        return row?.token === token && !row.done;
      }
    },
    MODEL,
  ],
  [
    'extends the lease of another token when it refuses to complete',
    class extends Rows {
      override async complete(key: string, token: string, ms: number): Promise<boolean> {
        const row = this.valid(key);
        if (row && row.token !== token) this.write(key, row.token, row.done, ms);
        return super.complete(key, token, ms);
      }
    },
    MODEL,
  ],
  [
    'leaves the time of a record as it was when it is completed again',
    class extends Rows {
      override async complete(key: string, token: string, ms: number): Promise<boolean> {
        const row = this.valid(key);
        return (row?.done && row.token === token) === true || super.complete(key, token, ms);
      }
    },
    MODEL,
  ],
  [
    'keeps no record for longer than a second',
    class extends Rows {
      override complete(key: string, token: string, ms: number): Promise<boolean> {
        return super.complete(key, token, Math.min(ms, 1_000));
      }
    },
    'time of ten years is kept by a record',
  ],
  [
    'lets a timer of more than 2^31 - 1 ms, which fires at once, remove its record',
    class extends Rows {
      protected override write(key: string, token: string, done: boolean, ms: number): void {
        super.write(key, token, done, ms);
        if (ms >= 2 ** 31) setTimeout(() => this.rows.delete(key), 1);
      }
    },
    'time of ten years is kept by a record',
  ],
  [
    'counts whole seconds',
    class extends Rows {
      protected override write(key: string, token: string, done: boolean, ms: number): void {
        super.write(key, token, done, Math.floor(ms / 1_000) * 1_000);
      }
    },
    'time is told to the millisecond, by any clock that counts them',
  ],
  [
    'compares keys without case',
    class extends Rows {
      override acquire(key: string, token: string, ms: number): Promise<Acquisition> {
        return super.acquire(key.toLowerCase(), token, ms);
      }
    },
    'keys and tokens are told apart: "k" and "K"',
  ],
  [
    'ignores blanks at the end of tokens',
    class extends Rows {
      protected override valid(key: string): Row | undefined {
        const row = super.valid(key);
        return row && { ...row, token: row.token.trimEnd() };
      }

      override acquire(key: string, token: string, ms: number): Promise<Acquisition> {
        return super.acquire(key, token.trimEnd(), ms);
      }
    },
    'keys and tokens are told apart: "k" and "k "',
  ],
  [
    'notifies before the run is seen to be over',
    class extends Rows {
      override async complete(key: string, token: string, ms: number): Promise<boolean> {
        this.notify(key);
        await roundTrip();
        this.write(key, token, true, ms);
        return true;
      }
    },
    'watch notifies when other tokens can see that the run was completed',
  ],
  [
    'has one watch for each function',
    class extends Rows {
      private readonly functions = new Map<() => void, string>();

      override watch(key: string, onChange: () => void): Promise<() => void> {
        this.functions.set(onChange, key);
        return Promise.resolve(() => this.functions.delete(onChange));
      }

      protected override notify(key: string): void {
        for (const [onChange, watched] of this.functions) if (watched === key) onChange();
      }
    },
    'watch continues for other watchers with the same function when one stops',
  ],
  [
    'cannot stop a watch',
    class extends Rows {
      override async watch(key: string, onChange: () => void): Promise<() => void> {
        await super.watch(key, onChange);
        return () => undefined;
      }
    },
    'watch makes no call after the watch was stopped',
  ],
];

async function failuresWith(Store: new () => LeaseStore): Promise<string[]> {
  const failures = await failuresOf(runner => {
    leaseStoreContract(
      'a store',
      () => {
        const store = new Store();
        return { one: store, other: store };
      },
      { runner },
    );
  });
  return Object.keys(failures);
}

describe('the contract of lease stores', () => {
  const failures = new Map<new () => LeaseStore, readonly string[]>();

  // All at the same time: the suites spend most of it waiting.
  beforeAll(async () => {
    const Stores = [Rows, CoarseRows, ...mistakes.map(([, Store]) => Store)];
    await Promise.all(Stores.map(async Store => failures.set(Store, await failuresWith(Store))));
  }, 120_000);

  it.each([
    ['a correct store', Rows],
    ['a correct store that notifies the watchers of all keys', CoarseRows],
  ])('is met by %s', (_title, Store) => {
    expect(failures.get(Store)).toEqual([]);
  });

  it.each(mistakes)('is not met by a store that %s', (_title, Store, foundBy) => {
    expect(failures.get(Store)).toContain(foundBy);
  });
});
