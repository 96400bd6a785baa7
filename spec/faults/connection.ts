import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { Pool } from 'pg';
import type { IdempotencyOptions, postgresLeases } from '../../lib';

export type StoreKind = 'redis' | 'postgres';

/** What is used of the library; not always the one in `lib`. */
export interface Library {
  readonly postgresLeases: typeof postgresLeases;
}

/** How a server process reaches the store. */
export interface Connection {
  readonly options: Pick<IdempotencyOptions, 'store' | 'leases'>;
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
    const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 500, query_timeout: 2_000 });
    pool.on('error', () => undefined);
    /** On the same pool: the one that @keyv/postgres makes ends the process when the server goes away. */
    class Responses extends KeyvPostgres {
      override connect() {
        return Promise.resolve(
          async (sql: string, values?: unknown[]) => (await pool.query(sql, values)).rows as unknown[],
        );
      }
    }
    const store = new Keyv(new Responses());
    store.on('error', () => undefined);
    return { options: { store, leases: library.postgresLeases(pool) }, close: () => pool.end() };
  },
};

export const connectTo = (kind: StoreKind, url: string, library: Library): Connection => kinds[kind](url, library);
