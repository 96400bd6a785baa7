import { totalmem } from 'node:os';

type Module = typeof import('../../lib/basics/process-memory');

/** The module in a process of which node reports this limit. */
function withLimit(limit: number | undefined): Module {
  const reported = jest.spyOn(process, 'constrainedMemory').mockReturnValue(limit as number);
  const loaded: Module[] = [];
  jest.isolateModules(() => {
    loaded.push(jest.requireActual<Module>('../../lib/basics/process-memory'));
  });
  reported.mockRestore();
  const [module] = loaded;
  if (!module) throw new Error('The module was not loaded');
  return module;
}

describe('the memory that a process may use', () => {
  it.each([
    ['of the machine, where node before 20.13 knows no limit', undefined, totalmem()],
    ['of the machine, where node knows no limit', 0, totalmem()],
    ['of the machine, where a cgroup sets no limit', 2 ** 64, totalmem()],
    ['of the machine, where an older node reports what cgroup v1 says of none', 9_223_372_036_854_771_712, totalmem()],
    ['of its container, where that has less', 300_000_000, 300_000_000],
  ])('is the memory %s', (_which, limit, bytes) => {
    expect(withLimit(limit).processMemory).toBe(bytes);
  });
});

describe('a bound of memory', () => {
  it.each([
    [1_000_000_000, 1_000],
    [4_000, 1_000],
    [3_999, 999],
    [3, 0],
  ])('of 1,000, or a quarter, in a process that may use %d bytes is %d', (memory, bound) => {
    expect(withLimit(memory).memoryBound(1_000, 1 / 4)).toBe(bound);
  });
});
