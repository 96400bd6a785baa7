import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@keyv/redis';
import { freePort } from '../servers/redis-server';
import { endWithUs } from './children';
import type { StoreKind } from './connection';

/** A store in a process of its own, as the storm treats it. */
export interface StoreServer {
  readonly port: number;
  /** How a server process reaches it through the proxy on `port`. */
  urlThrough(port: number): string;
  /** kill -9, and up again after `ms` milliseconds. What it has acknowledged is on disk. */
  kill(ms: number): Promise<void>;
  /** Ends well, and is up again after `ms` milliseconds. */
  restart(ms: number): Promise<void>;
  /** SIGSTOP for `ms` milliseconds. */
  pause(ms: number): Promise<void>;
  /** Forgets everything. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** redis-server with an append-only file that is written before an answer is given. */
class Redis implements StoreServer {
  private child: ChildProcess | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 'bindonce-faults-redis-'));

  private constructor(readonly port: number) {}

  static async start(): Promise<Redis> {
    const redis = new Redis(await freePort());
    await redis.up();
    return redis;
  }

  urlThrough(port: number): string {
    return `redis://127.0.0.1:${port}`;
  }

  async kill(ms: number): Promise<void> {
    await this.end('SIGKILL');
    await pause(ms);
    await this.up();
  }

  async restart(ms: number): Promise<void> {
    await this.end('SIGTERM');
    await pause(ms);
    await this.up();
  }

  async pause(ms: number): Promise<void> {
    this.child?.kill('SIGSTOP');
    await pause(ms);
    this.child?.kill('SIGCONT');
  }

  async flush(): Promise<void> {
    const client = createClient({ url: this.urlThrough(this.port) });
    await client.connect();
    await client.flushAll();
    client.destroy();
  }

  async stop(): Promise<void> {
    await this.end('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async up(): Promise<void> {
    const child = endWithUs(spawn('redis-server', ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--dir', this.directory], { stdio: ['ignore', 'pipe', 'inherit'] }));
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('exit', code => { reject(new Error(`redis-server ended with ${code}`)); });
      child.stdout.on('data', (text: Buffer) => { if (text.includes('Ready to accept connections')) resolve(); });
    });
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child?.kill(signal);
    if (this.child?.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

const kinds: Readonly<Record<StoreKind, () => Promise<StoreServer>>> = { redis: () => Redis.start() };

export const startStore = (kind: StoreKind): Promise<StoreServer> => kinds[kind]();
