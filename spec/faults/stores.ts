import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { PostgresServer } from '../servers/postgres-server';
import { RedisServer } from '../servers/redis-server';
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
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** What both kinds of server can do. */
type Server = Pick<RedisServer, 'kill' | 'shutDown' | 'up' | 'resume' | 'stop'> & { pause(): unknown; readonly port: number; readonly url: string };

function treated(server: Server, flush: () => Promise<unknown>): StoreServer {
  return {
    port: server.port,
    urlThrough: port => server.url.replace(String(server.port), String(port)),
    async kill(ms) {
      await server.kill();
      await pause(ms);
      await server.up();
    },
    async restart(ms) {
      await server.shutDown();
      await pause(ms);
      await server.up();
    },
    async pause(ms) {
      await server.pause();
      await pause(ms);
      server.resume();
    },
    async flush() { await flush(); },
    stop: () => server.stop(),
  };
}

const kinds: Readonly<Record<StoreKind, () => Promise<StoreServer>>> = {
  async redis() {
    const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    return treated(server, () => server.ask('FLUSHALL'));
  },
  async postgres() {
    const server = await PostgresServer.start('max_connections=200');
    return treated(server, async () => {
      const client = new Client(server.url).on('error', () => undefined);
      await client.connect();
      await client.query('TRUNCATE bindonce_leases, keyv');
      await client.end();
    });
  },
};

export const startStore = (kind: StoreKind): Promise<StoreServer> => kinds[kind]();
