import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Milliseconds after which the folder of a process on another machine or in another container is a leftover. */
const A_WEEK = 604_800_000;

/** `bindonce-<machine>-<pid>-<start of the process>-<random>` */
const NAME = /^bindonce-([0-9a-f]{8})-(\d+)-(\d+)-[^-]+$/;

/**
 * Returns the beginning of a folder's name. It identifies this process, so that others can tell whether it is alive.
 */
export function namePrefix(): string {
  return `bindonce-${machine}-${process.pid}-${started}-`;
}

/**
 * Removes the folders of dead processes, and nothing else: no folder of another user, none with another name or mode,
 * and none through a symbolic link.
 */
export async function removeLeftovers(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  // A failure is ignored: another process removes the folder at the same time, or the next process tries again.
  for (const name of names) await removeIfLeftOver(join(parent, name), name).catch(() => undefined);
}

async function removeIfLeftOver(path: string, name: string): Promise<void> {
  const [, where, pid, start] = NAME.exec(name) ?? [];
  if (where === undefined || (where === machine && isAlive(Number(pid), start))) return;
  const stats = await lstat(path);
  // Windows has neither user ids nor modes.
  const isOwn = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o777) === 0o700);
  if (!stats.isDirectory() || !isOwn || (where !== machine && Date.now() - stats.mtimeMs < A_WEEK)) return;
  await rm(path, { recursive: true, force: true });
}

/**
 * Returns true if the process runs. Process ids are reused, so the start time is compared too, if the system reports
 * it.
 */
function isAlive(pid: number, start: string | undefined): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  const known = startOf(pid);
  return known === undefined || known === start;
}

/** Returns the start time of a process, on Linux: clock ticks since the system started (proc_pid_stat(5), field 22). */
function startOf(pid: number): string | undefined {
  const stat = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name of the program, in parentheses, may contain blanks and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

const started = startOf(process.pid) ?? String(Math.round(Date.now() / 1_000 - process.uptime()));

/** Identifies the machine, its last start and the container: each of them counts process ids anew. */
const machine = createHash('sha256')
  .update(hostname())
  .update(readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')))
  .update(readOrEmpty(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 8);
