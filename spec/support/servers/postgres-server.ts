import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { endWithUs } from './children';
import { postgresBinaries } from './install';
import { freePort } from './redis-server';

/** PostgreSQL refuses to run as root; where we are root, it runs as the user that its package has made. */
const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

/** A real PostgreSQL server of one suite, on a free port of the loopback interface, that can be killed and paused. */
export class PostgresServer {
  private postmaster: ChildProcess | undefined;
  private paused: number[] = [];
  private readonly bin = postgresBinaries() ?? '';
  private readonly directory = mkdtempSync(join(tmpdir(), 'bindonce-postgres-'));
  private readonly data = join(this.directory, 'data');

  private constructor(
    readonly port: number,
    private readonly settings: readonly string[],
  ) {}

  /** @param settings of postgresql.conf: `default_transaction_isolation=serializable`. */
  static async start(...settings: string[]): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), settings);
    if (user.uid !== undefined) chownSync(server.directory, user.uid, user.gid);
    execFileSync(
      join(server.bin, 'initdb'),
      ['-D', server.data, '-U', 'bindonce', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
      { ...server.as, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    await server.up();
    return server;
  }

  get url(): string {
    return `postgres://bindonce@127.0.0.1:${this.port}/postgres`;
  }

  /** Starts it, or starts it again on the same port with its data. */
  async up(): Promise<void> {
    // Without fsync, what is committed is lost when the machine crashes, not when a process is killed.
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      'fsync=off',
      'shared_buffers=16MB',
      'log_checkpoints=off',
      ...this.settings,
    ];
    const postmaster = endWithUs(
      spawn(
        join(this.bin, 'postgres'),
        ['-D', this.data, '-p', String(this.port), ...settings.flatMap(setting => ['-c', setting])],
        { ...this.as, stdio: ['ignore', 'ignore', 'pipe'] },
      ),
    );
    this.postmaster = postmaster;
    await new Promise<void>((resolve, reject) => {
      let log = '';
      postmaster.once('exit', code => {
        reject(new Error(`postgres ended with ${code}:\n${log}`));
      });
      postmaster.stderr.on('data', (text: Buffer) => {
        log += text.toString();
        if (log.includes('database system is ready to accept connections')) resolve();
      });
    });
  }

  /** kill -9: connections break, what was committed stays. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** "Fast shutdown": what is under way is rolled back, and it ends well. */
  shutDown(): Promise<void> {
    return this.end('SIGINT');
  }

  /** Connections stay, nothing is answered. */
  async pause(): Promise<void> {
    const client = new Client(this.url).on('error', () => undefined);
    await client.connect();
    // First, so that no backend begins after the others were asked for.
    this.postmaster?.kill('SIGSTOP');
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    this.paused = rows.map(({ pid }) => pid);
    for (const pid of this.paused) process.kill(pid, 'SIGSTOP');
    // Not waited for: its own end may need a lock that one of them holds.
    client.end().catch(() => undefined);
  }

  resume(): void {
    for (const pid of this.paused.splice(0)) process.kill(pid, 'SIGCONT');
    this.postmaster?.kill('SIGCONT');
  }

  /** Unlike kill -9, this leaves it the time to end its children itself. */
  async stop(): Promise<void> {
    this.resume();
    await this.end('SIGQUIT');
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async end(signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void> {
    const { postmaster } = this;
    if (!postmaster || postmaster.exitCode !== null || postmaster.signalCode !== null) return;
    postmaster.kill(signal);
    for (const pid of this.paused.splice(0)) process.kill(pid, signal);
    // Not 'exit': its children end a moment after it, and until then hold the data, and the pipe that they have inherited.
    await once(postmaster, 'close');
  }

  /** In its own directory, since it may not enter ours; in English, since we read what it says. */
  private get as() {
    return { ...user, cwd: this.directory, env: { ...process.env, LC_ALL: 'C' } };
  }
}

/** The server for what needs no faults: the one that POSTGRES_URL names, or one of our own. */
export async function anyPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { POSTGRES_URL: url } = process.env;
  return url ? { url, stop: () => Promise.resolve() } : PostgresServer.start();
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
