import { mkdirSync, type StatsFs } from 'node:fs';
import { join } from 'node:path';
import { filesHeldIn, isInMemory } from '../../../lib/body/stream/held-in';
import { TemporaryDirectory } from '../../support/temporary-directory';

const GIB = 1_073_741_824;
const BLOCK = 4_096;
const system = (type: number, bytes: number): StatsFs =>
  ({ type, blocks: bytes / BLOCK, bsize: BLOCK }) as unknown as StatsFs;

it.each([
  ['tmpfs', system(0x01021994, 64 * GIB), true],
  ['ramfs, which has no size', system(0x858458f6, 0), true],
  ['ext4, of any size', system(0xef53, GIB / 4), false],
  ['an overlay on a disk', system(0x794c7630, 20 * GIB), false],
  ['an overlay on a tmpfs of half of the memory', system(0x794c7630, GIB / 4), true],
  ['an overlay on memory without a size, as gVisor has it', system(0x794c7630, 0), true],
  ['a file system of Windows, which has no type', system(0, 100 * GIB), false],
])('in a process that may use 512 MiB, the files of %s are in memory: %#', (_what, stats, expected) => {
  expect(isInMemory(stats, GIB / 2)).toBe(expected);
});

it('the files of a folder on tmpfs are held on a RAM disk', () => {
  expect(filesHeldIn('/dev/shm')).toBe('ramDisk');
});

it('of a folder that is missing, the system is asked again once it is there', () => {
  const directory = new TemporaryDirectory('/dev/shm');
  const path = join(directory.path, 'later');
  expect(filesHeldIn(path)).toBe('disk');
  mkdirSync(path);
  expect(filesHeldIn(path)).toBe('ramDisk');
  directory.remove();
});
