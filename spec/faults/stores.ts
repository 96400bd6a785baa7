import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@keyv/redis';
import { Pool } from 'pg';
import { PostgresServer } from '../support/servers/postgres-server';
import { RedisServer } from '../support/servers/redis-server';
import type { StoreKind } from './connection';

/** A store as the storm treats it. What it has acknowledged is on disk. */
export interface StoreServer {
  readonly port: number;
  /** How a server process reaches it through the proxy on `port`. */
  urlThrough(port: number): string;
  /** kill -9, and up again after `ms` milliseconds. */
  kill(ms: number): Promise<void>;
  /** Ends well, and is up again after `ms` milliseconds. */
  restart(ms: number): Promise<void>;
  /** SIGSTOP for `ms` milliseconds. */
  pause(ms: number): Promise<void>;
  /** Forgets everything. */
  flush(): Promise<unknown>;
  /** The orders that handlers have committed with their response. */
  orders?(): Promise<readonly { readonly key: string; readonly run: string }[]>;
  /** Does what a step does: a write, on a connection that is open. */
  touch(): Promise<unknown>;
  stop(): Promise<void>;
}

/** What both kinds of server can do. */
type Server = Pick<RedisServer, 'kill' | 'shutDown' | 'up' | 'resume' | 'stop'> & {
  pause(): unknown;
  readonly port: number;
  readonly url: string;
};

type OfKind = Pick<StoreServer, 'touch' | 'orders' | 'flush'> & { close(): unknown };

function treated(server: Server, { close, ...ofKind }: OfKind): StoreServer {
  /** It is up again `ms` milliseconds after this. */
  const upAfter = async (ms: number, down: Promise<unknown>): Promise<void> => {
    await down;
    await pause(ms);
    await server.up();
  };
  return {
    ...ofKind,
    port: server.port,
    urlThrough: port => server.url.replace(String(server.port), String(port)),
    kill: ms => upAfter(ms, server.kill()),
    restart: ms => upAfter(ms, server.shutDown()),
    async pause(ms) {
      await server.pause();
      await pause(ms);
      server.resume();
    },
    async stop() {
      close();
      await server.stop();
    },
  };
}

const kinds: Readonly<Record<StoreKind, () => Promise<StoreServer>>> = {
  async redis() {
    const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    const client = createClient({ url: server.url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } }).on(
      'error',
      () => undefined,
    );
    await client.connect();
    return treated(server, {
      flush: () => server.ask('FLUSHALL'),
      touch: () => client.set('touched', 'yes'),
      close: () => client.destroy(),
    });
  },
  async postgres() {
    const server = await PostgresServer.start('max_connections=200');
    const pool = new Pool({ connectionString: server.url, max: 2, query_timeout: 2_000 }).on('error', () => undefined);
    await pool.query(
      'CREATE TABLE touched (at timestamptz); INSERT INTO touched VALUES (now()); CREATE TABLE orders (key text, run text)',
    );
    return treated(server, {
      // Before the first request there are no tables.
      flush: () =>
        pool.query('TRUNCATE bindonce_1_runs, bindonce_1_leases, bindonce_1_responses').catch(() => undefined),
      orders: async () => (await pool.query<{ key: string; run: string }>('SELECT key, run FROM orders')).rows,
      touch: () => pool.query('UPDATE touched SET at = now()'),
      close: () => pool.end().catch(() => undefined),
    });
  },
};

export const startStore = (kind: StoreKind): Promise<StoreServer> => kinds[kind]();
