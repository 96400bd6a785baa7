import KeyvRedis from '@keyv/redis';
import { sqliteStore, type IdempotencyOptions, type SqliteDatabase } from 'bindonce';
import { Keyv } from 'keyv';
import type { Environment } from './environment';
import { fileLedger, memoryLedger, redisLedger, type Ledger } from './ledger';
import { tell } from './messages';

/** The data that the shop must not lose: in this process, or in a file or on a Redis that several processes share. */
export interface Storage {
  readonly name: 'memory' | 'file' | 'Redis';
  /** The store of the idempotency middleware; undefined for its default store in memory. */
  readonly store: IdempotencyOptions['store'];
  ledger<Entry>(name: string): Ledger<Entry>;
  /** Connects in the background, and has errors printed. */
  open(): void;
  close(): Promise<void>;
}

export function storageAt({ redisUrl, file }: Environment): Storage {
  if (redisUrl) return redisStorage(redisUrl);
  return file === undefined ? memoryStorage : fileStorage(file);
}

const memoryStorage: Storage = {
  name: 'memory',
  store: undefined,
  ledger: memoryLedger,
  open: () => undefined,
  close: () => Promise.resolve(),
};

function fileStorage(path: string): Storage {
  const store = sqliteStore(path);
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as {
    readonly DatabaseSync: new (path: string) => SqliteDatabase;
  };
  const database = new DatabaseSync(path);
  return {
    name: 'file',
    store,
    ledger: name => fileLedger(database, name),
    open: () => undefined,
    close: () => {
      store.close();
      database.close();
      return Promise.resolve();
    },
  };
}

function redisStorage({ href: url, host }: URL): Storage {
  // Without the offline queue, a command fails at once while Redis is away, instead of waiting for its return.
  const redis = new KeyvRedis<unknown>({
    url,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: (attempts: number) => Math.min(50 * 2 ** attempts, 1_000) },
  });
  const responses = new Keyv(redis, { namespace: 'shop' });
  let isStopping = false;
  let told = '';
  const complain = (error: unknown): void => {
    // The error for a name with several addresses (localhost) has no message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message || code || String(error);
    // The connection is tried again every second; the same reason is told once.
    if (isStopping || reason === told) return;
    told = reason;
    const text =
      `The Redis at ${host} does not answer: ${reason}. ` +
      'Until it does, requests get 503. Start it, or change REDIS_URL.';
    tell({ kind: 'complaint', text });
  };
  responses.on('error', complain);
  redis.on('connect', () => {
    told = '';
  });
  return {
    name: 'Redis',
    store: responses,
    ledger: name => redisLedger(redis, `shop:${name}`),
    // A Redis with a password accepts any connection and refuses the first command.
    open: () => {
      redis
        .getClient()
        .then(client => client.ping())
        .catch(complain);
    },
    close: () => {
      isStopping = true;
      return redis.disconnect(true);
    },
  };
}
