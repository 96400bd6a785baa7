import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { MemoryLimit } from '../support/memory-limit';

type Module = typeof import('../../lib/basics/process');

/** The module in a process of which node reports this limit. */
function withLimit(limit: number | undefined): Module {
  const reported = jest.spyOn(process, 'constrainedMemory').mockReturnValue(limit as number);
  const loaded: Module[] = [];
  jest.isolateModules(() => {
    loaded.push(jest.requireActual<Module>('../../lib/basics/process'));
  });
  reported.mockRestore();
  const [module] = loaded;
  if (!module) throw new Error('The module was not loaded');
  return module;
}

/** Where nothing else limits it. */
const ofMachine = Math.min(totalmem(), 2 * getHeapStatistics().heap_size_limit);

describe('the memory that a process may use', () => {
  it.each([
    ['of the machine, where node before 20.13 knows no limit', undefined, ofMachine],
    ['of the machine, where node knows no limit', 0, ofMachine],
    ['of the machine, where a cgroup sets no limit', 2 ** 64, ofMachine],
    ['of the machine, where an older node reports what cgroup v1 says of none', 9_223_372_036_854_771_712, ofMachine],
    ['of its container, where that has less', 300_000_000, 300_000_000],
  ])('is the memory %s', (_which, limit, bytes) => {
    expect(withLimit(limit).processMemory).toBe(bytes);
  });
});

/** Prints the bounds of what takes memory. */
const printBounds = `
  const { held } = require('./dist/body/kept-bytes.js');
  const { LONGEST_KEPT, MAX_BYTES } = require('./dist/idempotency/stores/memory-responses.js');
  const { memoryLeases } = require('bindonce');
  setImmediate(() => {
    console.log(
      JSON.stringify({
        bodies: held.bound, store: MAX_BYTES, longest: LONGEST_KEPT,
        keys: memoryLeases().maxKeys, given: memoryLeases({ maxKeys: 2_000_000 }).maxKeys,
      }),
    );
    process.exit();
  });`;

const MIB = 1_048_576;

it.each([
  [256, { bodies: 256 * MIB, store: 32 * MIB, longest: 30.5 * MIB, keys: 67_108 }],
  [1_024, { bodies: 1_024 * MIB, store: 64 * MIB, longest: 61 * MIB, keys: 268_435 }],
  [4_096, { bodies: 2_048 * MIB, store: 64 * MIB, longest: 61 * MIB, keys: 1_000_000 }],
])('a process in a cgroup of %i MiB has the bounds %j; those of disks, and given ones, stay', (megabytes, bounds) => {
  const limit = MemoryLimit.of(megabytes * MIB);
  expect(JSON.parse(limit.run('--max-old-space-size=4096', '-e', printBounds))).toEqual({
    ...bounds,
    given: 2_000_000,
  });
  limit.remove();
});

it('a process with a small heap has the bounds of one with twice as much memory', () => {
  const limit = MemoryLimit.of(4_096 * MIB);
  const { store, keys } = JSON.parse(limit.run('--max-old-space-size=256', '-e', printBounds)) as Record<
    string,
    number
  >;
  // V8 adds 48 MiB of new objects.
  expect([store, keys]).toEqual([64 * MIB, 159_383]);
  limit.remove();
});

it.each([
  [4_000, 1_000],
  [3_999, 999],
  [3, 0],
])('a bound of 1,000, or a quarter, in a process that may use %d bytes is %d', (memory, bound) => {
  expect(withLimit(memory).memoryBound(1_000, 1 / 4)).toBe(bound);
});
