import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A limit of memory for processes that a spec starts: a cgroup of version 1 or 2, for which one has to be root. Where this
 * process may not make one, node only reports the limit, and no process is killed that exceeds it.
 */
export class MemoryLimit {
  private constructor(
    /** A command of the shell, by which a process limits itself and those that it becomes. */
    readonly shell: string,
    private readonly path?: string,
  ) {}

  static of(bytes: number): MemoryLimit {
    // With version 2 alone, the only line begins with `0::`.
    const [, ofVersion1] = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m.exec(own()) ?? [];
    const [parent, file] =
      ofVersion1 === undefined
        ? ['/sys/fs/cgroup', 'memory.max']
        : [join('/sys/fs/cgroup/memory', ofVersion1), 'memory.limit_in_bytes'];
    const path = join(parent, `bindonce-spec-${process.pid}-${++count}`);
    try {
      mkdirSync(path);
      writeFileSync(join(path, file), String(bytes));
      return new MemoryLimit(`echo $$ > ${path}/cgroup.procs`, path);
    } catch {
      remove(path);
      const preloaded = `--require=${join(__dirname, 'programs/reported-limit.cjs')}`;
      return new MemoryLimit(`export MEMORY_LIMIT=${bytes} NODE_OPTIONS="$NODE_OPTIONS ${preloaded}"`);
    }
  }

  /** Runs node, with the working directory of the package. Returns what it prints. */
  run(...args: string[]): string {
    return execFileSync('sh', ['-c', `${this.shell}; exec "$0" "$@"`, process.execPath, ...args], {
      cwd: join(__dirname, '../..'),
      encoding: 'utf8',
    });
  }

  /** Removes the cgroup, when its processes have ended. */
  remove(): void {
    if (this.path !== undefined) remove(this.path);
  }
}

let count = 0;

function own(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'latin1');
  } catch {
    return '';
  }
}

function remove(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It was not made.
  }
}
