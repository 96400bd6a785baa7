import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Milliseconds after which the folder of a process that cannot be looked up, on another machine or in another container, is a leftover. */
const A_WEEK = 604_800_000;

/** `bindonce-<where processes are counted>-<pid>-<start of the process>-<random>` */
const NAME = /^bindonce-([0-9a-f]{8})-(\d+)-(\d+)-[^-]+$/;

/**
 * The beginning of a folder's name. It says which process has made the folder, so that another can tell whether that is alive.
 */
export function namePrefix(): string {
  return `bindonce-${machine}-${process.pid}-${started}-`;
}

/**
 * Removes folders of processes that are dead. Nothing else: not what belongs to another user, not what has another name or mode,
 * and never through a symbolic link.
 */
export async function removeLeftovers(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  // What another process removes at the same time is gone; what cannot be removed now is left to the next process.
  for (const name of names) await removeIfLeftOver(join(parent, name), name).catch(() => undefined);
}

async function removeIfLeftOver(path: string, name: string): Promise<void> {
  const [, where, pid, start] = NAME.exec(name) ?? [];
  if (where === undefined || (where === machine && isAlive(Number(pid), start))) return;
  const stats = await lstat(path);
  // Windows has neither user ids nor modes.
  const isOurs = process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o777) === 0o700);
  if (!stats.isDirectory() || !isOurs || (where !== machine && Date.now() - stats.mtimeMs < A_WEEK)) return;
  await rm(path, { recursive: true, force: true });
}

/** A process id may be given to another process; with the time of its start it names one, where the system tells that time. */
function isAlive(pid: number, start: string | undefined): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  const known = startOf(pid);
  return known === undefined || known === start;
}

/** On Linux, when a process has started, in clock ticks since the system has (proc_pid_stat(5), field 22). */
function startOf(pid: number): string | undefined {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name of the program, in parentheses, may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

const started = startOf(process.pid) ?? String(Math.round(Date.now() / 1_000 - process.uptime()));

/** Process ids are counted by each machine anew after each start, and in each container. */
const machine = createHash('sha256')
  .update(hostname())
  .update(textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')))
  .update(textOf(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 8);
