import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { Pool, type PoolClient } from 'pg';
import type { fromPg, IdempotencyOptions, postgresStore, TransactionAdapter } from '../../lib';

export type StoreKind = 'redis' | 'postgres';

/** What is used of the library; not always the one in `lib`. */
export interface Library {
  readonly postgresStore: typeof postgresStore;
  readonly fromPg: typeof fromPg;
}

/** How a server process reaches the store. */
export interface Connection {
  readonly options: Pick<IdempotencyOptions, 'store'>;
  /** Transactions in which the handler keeps its orders. */
  readonly orders?: TransactionAdapter<PoolClient>;
  close(): Promise<unknown>;
  /** Told of the outcome of each request: connects again after failures, as the documents say. */
  told?(hasFailed: boolean): void;
}

/** Milliseconds between two attempts to reach a store that is down: short, so that a storm has many calms. */
const RECONNECT = 50;

const kinds: Readonly<Record<StoreKind, (url: string, library: Library) => Connection>> = {
  redis(url) {
    const client = createClient({ url, socket: { reconnectStrategy: RECONNECT } });
    const store = new Keyv(new KeyvRedis(client));
    store.on('error', () => undefined);
    let failures = 0;
    return {
      options: { store },
      close: () => store.disconnect(),
      told: hasFailed => {
        failures = hasFailed ? failures + 1 : 0;
        if (failures < 10 || !client.isReady) return;
        failures = 0;
        client.destroy();
        client.connect().catch(() => undefined);
      },
    };
  },
  postgres(url, library) {
    const pool = (): Pool =>
      new Pool({ connectionString: url, connectionTimeoutMillis: 500, query_timeout: 2_000 }).on(
        'error',
        () => undefined,
      );
    const [ours, theirs] = [pool(), pool()];
    return {
      options: { store: library.postgresStore(ours) },
      orders: library.fromPg(theirs),
      close: () => Promise.all([ours.end(), theirs.end()]),
    };
  },
};

export const connectTo = (kind: StoreKind, url: string, library: Library): Connection => kinds[kind](url, library);
