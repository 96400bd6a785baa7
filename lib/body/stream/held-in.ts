import { statfsSync, type StatsFs } from 'node:fs';
import { processMemory } from '../../basics/process-memory';
import type { HeldIn } from './holding';

/** The types of tmpfs and ramfs in statfs(2). */
const RAM_DISKS = [0x01021994, 0x858458f6];
/** The type of an overlay, as the root of most containers is. It hides the type of the file system below. */
const OVERLAY = 0x794c7630;

/** Where the files of each folder are held, once the system has been asked. */
const known = new Map<string, HeldIn>();

/** Tells where the files of a folder are held. */
export function filesHeldIn(folder: string): HeldIn {
  const where = known.get(folder);
  if (where !== undefined) return where;
  try {
    const asked = isInMemory(statfsSync(folder)) ? 'ramDisk' : 'disk';
    known.set(folder, asked);
    return asked;
  } catch {
    // No file will be stored there either.
    return 'disk';
  }
}

/**
 * Returns true for a file system in memory. An overlay reports the size of the file system that it writes to: if that
 * is in memory, no more than the process may use, or 0 (gVisor), and a disk has more.
 */
export function isInMemory({ type, blocks, bsize }: StatsFs, memory = processMemory): boolean {
  return RAM_DISKS.includes(type) || (type === OVERLAY && blocks * bsize <= memory);
}
