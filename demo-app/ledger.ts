import type KeyvRedis from '@keyv/redis';
import type { SqliteDatabase } from 'bindonce';

/** The list of what was really done, in order: a duplicate would appear in it twice. */
export interface Ledger<Entry> {
  add(entry: Entry): Promise<void>;
  all(): Promise<Entry[]>;
}

/** Makes a ledger in the memory of this process. */
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

/** Makes a ledger in a file, which the processes of this machine share. */
export function fileLedger<Entry>(database: SqliteDatabase, name: string): Ledger<Entry> {
  database.exec('PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS ledger (name TEXT, entry TEXT)');
  return {
    add(entry) {
      database.prepare('INSERT INTO ledger (name, entry) VALUES (?, ?)').run(name, JSON.stringify(entry));
      return Promise.resolve();
    },
    all() {
      const sql = 'SELECT json_group_array(json(entry)) AS entries FROM ledger WHERE name = ?';
      const [row] = database.prepare(sql).all(name) as { readonly entries: string }[];
      return Promise.resolve(JSON.parse(row?.entries ?? '[]') as Entry[]);
    },
  };
}

/** Makes a ledger that all processes on the same Redis share. */
export function redisLedger<Entry>(redis: KeyvRedis<unknown>, key: string): Ledger<Entry> {
  const orUnavailable = async <T>(call: Promise<T>): Promise<T> => {
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
      const client = await orUnavailable(redis.getClient());
      await orUnavailable(client.rPush(key, JSON.stringify(entry)));
    },
    async all() {
      const client = await orUnavailable(redis.getClient());
      const entries = await orUnavailable(client.lRange(key, 0, -1));
      return entries.map(entry => JSON.parse(entry) as Entry);
    },
  };
}
