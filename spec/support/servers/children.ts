import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

/** However this process ends, the process that it has started does not stay behind. */
export function endWithUs<T extends ChildProcess>(child: T): T {
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
  });
  return child;
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
