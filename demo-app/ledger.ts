import type KeyvRedis from '@keyv/redis';

/** What was really done, in the order it was done: the list that a duplicate would show up in. */
export interface Ledger<Entry> {
  add(entry: Entry): Promise<void>;
  all(): Promise<Entry[]>;
}

/** A ledger of this process. */
export function memoryLedger<Entry>(): Ledger<Entry> {
  const entries: Entry[] = [];
  return {
    add(entry) {
      entries.push(entry);
      return Promise.resolve();
    },
    all: () => Promise.resolve(entries),
  };
}

/** A ledger that every process on the same Redis shares. */
export function redisLedger<Entry>(redis: KeyvRedis<unknown>, key: string): Ledger<Entry> {
  const answered = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (cause) {
      throw Object.assign(new Error('The ledger is unavailable. Retry later.', { cause }), {
        status: 503,
        expose: true,
        headers: { 'Retry-After': '1' },
      });
    }
  };
  return {
    async add(entry) {
      const client = await answered(redis.getClient());
      await answered(client.rPush(key, JSON.stringify(entry)));
    },
    async all() {
      const client = await answered(redis.getClient());
      const entries = await answered(client.lRange(key, 0, -1));
      return entries.map(entry => JSON.parse(entry) as Entry);
    },
  };
}
