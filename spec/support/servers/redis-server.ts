import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@keyv/redis';
import { endWithUs } from './children';

/** A real redis-server of one suite, on a free port of the loopback interface, that can be killed and paused. */
export class RedisServer {
  protected readonly directory = mkdtempSync(join(tmpdir(), 'bindonce-redis-'));
  /** What it prints when it can be used. */
  protected readonly isUp: string = 'Ready to accept connections';
  private child: ChildProcess | undefined;

  protected constructor(
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  /** @param settings as on the command line: `'--requirepass', 'secret'`. */
  static async start(...settings: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), settings);
    await server.up();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, or starts it again on the same port; its data is gone then, unless its settings keep it. */
  async up(): Promise<void> {
    // Not 'inherit': a server that a failed spec has left would hold the pipe of its jest worker open, and jest waits
    // for that.
    const child = endWithUs(
      spawn('redis-server', this.commandLine(this.settings), { stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    child.stderr.pipe(process.stderr);
    this.child = child;
    let printed = '';
    await new Promise<void>((resolve, reject) => {
      child.once('close', code => {
        reject(new Error(`redis-server ended with ${code}: ${printed.slice(-500)}`));
      });
      child.stdout.on('data', (text: Buffer) => {
        printed += String(text);
        if (text.includes(this.isUp)) resolve();
      });
    });
  }

  protected commandLine(settings: readonly string[]): string[] {
    const own = { port: String(this.port), bind: '127.0.0.1', save: '', appendonly: 'no', dir: this.directory };
    return [...Object.entries(own).flatMap(([name, value]) => [`--${name}`, value]), ...settings];
  }

  /** Sends one command, on a connection of its own. */
  async ask(...command: string[]): Promise<unknown> {
    const client = createClient({ url: this.url }).on('error', () => undefined);
    await client.connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  }

  /** Asks until the answer, as text, is as expected. */
  async answers(expected: RegExp, ...command: string[]): Promise<void> {
    while (!expected.test(String(await this.ask(...command).catch(String)))) await pause(20);
  }

  /** kill -9: connections break, data in memory is gone. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** SIGTERM: it ends well. */
  shutDown(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Connections stay, nothing is answered. */
  pause(): void {
    this.child?.kill('SIGSTOP');
  }

  resume(): void {
    this.child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }
}

/** The server for what needs no faults: the one that REDIS_URL names, or one of our own. */
export async function anyRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { REDIS_URL: url } = process.env;
  return url ? { url, stop: () => Promise.resolve() } : RedisServer.start();
}

/** The ports that this suite has got. */
const given = new Set<number>();

/** How many ports each worker of jest has for itself. */
const SHARE = 1_500;

/**
 * A free port below those that the system hands out by itself (from 32 768 on), and in the share of this worker: between
 * asking for a port and listening on it, another suite's server or connection could get it.
 */
export async function freePort(): Promise<number> {
  const first = 20_000 + (Number(process.env['JEST_WORKER_ID'] ?? 0) % 8) * SHARE;
  for (;;) {
    const port = randomInt(first, first + SHARE);
    if (given.has(port)) continue;
    given.add(port);
    const server = createServer();
    const isFree = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
