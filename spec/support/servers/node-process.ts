import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server in a process of its own, that can be killed, stopped and continued. */
export class NodeProcess {
  /** Lines that it has printed. */
  readonly output: string[] = [];
  url = '';
  private readonly listeners = new Set<() => void>();

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream)
        createInterface({ input: stream }).on('line', line => {
          this.output.push(line);
          for (const listener of this.listeners) listener();
        });
    }
  }

  /**
   * Starts a script and waits for the line in which it prints its address.
   * @param shell a command of the shell that comes first, such as `ulimit`.
   */
  static async start(script: string, env: Readonly<Record<string, string>> = {}, shell = ':'): Promise<NodeProcess> {
    const started = new NodeProcess(
      spawn('sh', ['-c', `${shell}; exec "$0" "$1"`, process.execPath, script], {
        env: { ...process.env, PORT: '0', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const line = await started.printed(/http:\/\/127\.0\.0\.1:\d+/);
    started.url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? '';
    return started;
  }

  /** Resolves with the first line that matches, printed already or later. */
  printed(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const line = this.output.find(one => pattern.test(one));
        if (line === undefined) return;
        this.listeners.delete(look);
        this.child.off('exit', fail);
        resolve(line);
      };
      const fail = (code: number | null): void => {
        reject(new Error(`The process ended with ${code} before it printed ${pattern}:\n${this.output.join('\n')}`));
      };
      this.listeners.add(look);
      this.child.once('exit', fail);
      look();
    });
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM' | 'SIGINT'): void {
    this.child.kill(signal);
  }

  /** Resolves with the exit code when the process has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    return this.child.exitCode;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended();
  }
}
