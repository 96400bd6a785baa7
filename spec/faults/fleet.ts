import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endWithUs } from '../support/servers/children';
import type { TcpProxy } from '../support/servers/tcp-proxy';
import type { Word } from './client';
import type { Journal } from './journal';

/** One server under the storm: a process that is replaced when it ends, and its way to the store. */
export class ServerSlot {
  private child: ChildProcess | undefined;
  /** Set while we end it ourselves; a process that ends otherwise is a breach. */
  private isEnding = false;

  private constructor(
    readonly port: number,
    readonly proxy: TcpProxy,
    private readonly env: NodeJS.ProcessEnv,
    private readonly journal: Journal,
  ) {}

  static async start(port: number, proxy: TcpProxy, env: NodeJS.ProcessEnv, journal: Journal): Promise<ServerSlot> {
    const slot = new ServerSlot(port, proxy, { ...env, PORT: String(port) }, journal);
    await slot.up();
    return slot;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** kill -9 in the midst of everything, and a new process in its place. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
    await this.up();
  }

  /** SIGSTOP for `ms` milliseconds: what a stopped virtual machine or a long garbage collection looks like. */
  async stop(ms: number): Promise<void> {
    this.child?.kill('SIGSTOP');
    await pause(ms);
    this.child?.kill('SIGCONT');
  }

  /** SIGTERM: it finishes what it has begun, and a new process comes in its place. */
  async terminate(): Promise<void> {
    await this.leave();
    await this.up();
  }

  /** Ends it well. */
  async leave(): Promise<void> {
    const code = await this.end('SIGTERM');
    if (code !== 0) this.journal.write({ what: 'breach', detail: `a server ended with ${code} after SIGTERM` });
  }

  /** Ends it for good, whatever it does. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    await this.proxy.close();
  }

  private async up(): Promise<void> {
    const child = endWithUs(
      fork(join(__dirname, 'server.js'), { env: this.env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    );
    this.child = child;
    this.isEnding = false;
    child.once('exit', (code, signal) => {
      if (!this.isEnding)
        this.journal.write({ what: 'breach', detail: `a server ended by itself with ${signal ?? code}` });
    });
    await once(child, 'message');
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    if (!child) return null;
    this.isEnding = true;
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  }
}

/** One process of clients. */
export class ClientProcess {
  keys = 0;
  hangUps = 0;
  private readonly child: ChildProcess;

  constructor(env: NodeJS.ProcessEnv) {
    this.child = endWithUs(fork(join(__dirname, 'client.js'), { env }));
    this.child.on('message', (message: 'settled' | 'verified' | { keys: number; hangUps: number }) => {
      if (typeof message === 'object') Object.assign(this, message);
    });
  }

  tell(word: Word): void {
    this.child.send(word);
  }

  /** Resolves when the process says so; rejects when it ends before. */
  says(what: 'settled' | 'verified'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.child.on('message', message => {
        if (message === what) resolve();
      });
      this.child.once('exit', code => {
        reject(new Error(`A client process ended with ${code}`));
      });
    });
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
