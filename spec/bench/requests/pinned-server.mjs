import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('server.mjs', import.meta.url));

const cores = availableParallelism();
/** Only Linux lets a process choose its cores; elsewhere, and on one core, the load disturbs the server. */
const canPin = process.platform === 'linux' && cores > 1;

/** Leaves the first core to the servers. */
export function keepToOtherCores() {
  if (canPin) execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', `1-${cores - 1}`, String(process.pid)]);
}

/** A server process on the first core. */
export class PinnedServer {
  #child;
  url;

  constructor(child, port) {
    this.#child = child;
    this.url = new URL(`http://127.0.0.1:${port}/`);
  }

  static async start(scenario, subject, env) {
    const [command, ...args] = [
      ...(canPin ? ['taskset', '--cpu-list', '0'] : []),
      process.execPath,
      script,
      scenario,
      subject,
    ];
    const child = spawn(command, args, {
      env: { ...process.env, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const started = once(child, 'message');
    const ended = once(child, 'exit').then(() => {
      throw new Error(`The server of "${subject}" ended before it listened.`);
    });
    const [{ port }] = await Promise.race([started, ended]);
    return new PinnedServer(child, port);
  }

  /** The CPU time that the process has taken until now, in microseconds. */
  async micros() {
    this.#child.send('micros');
    return (await once(this.#child, 'message'))[0].micros;
  }

  stop() {
    this.#child.kill();
  }
}
