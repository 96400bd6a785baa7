import { memoryLeases, type LeaseStore } from '../../../lib';
import { leaseStoreContract } from '../../../lib/testing';
import { leastTimes, NOISE } from '../../support/processor-time';

leaseStoreContract('memoryLeases()', () => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
});

/** Makes leases that are swept by fake timers: the module takes the timers that it finds when it is loaded. */
function leasesWithFakeSweeps(): LeaseStore {
  const made: LeaseStore[] = [];
  jest.isolateModules(() => {
    made.push(jest.requireActual<typeof import('../../../lib')>('../../../lib').memoryLeases());
  });
  const [leases] = made;
  if (!leases) throw new Error('There are no leases');
  return leases;
}

describe('memoryLeases()', () => {
  it('does each step at once: there is nothing to wait for', () => {
    const leases = memoryLeases();
    expect(leases.acquire('k', 'a', 1_000)).toEqual({ kind: 'acquired' });
    expect(leases.renew('k', 'a', 1_000)).toBe(true);
    expect(leases.complete('k', 'a', 1_000)).toBe(true);
    expect(leases.release('k', 'a')).toBe(true);
  });

  it('are apart from other memoryLeases()', () => {
    const [one, other] = [memoryLeases(), memoryLeases()];
    void one.acquire('k', 'a', 1_000);
    expect(other.acquire('k', 'b', 1_000)).toEqual({ kind: 'acquired' });
  });

  it('with 100,000 live keys acquire as fast as with none', async () => {
    let keys = 0;
    const acquire = (leases: ReturnType<typeof memoryLeases>, times: number): void => {
      for (let index = 0; index < times; index++) void leases.acquire(`${keys++}`, 'a', 60_000);
    };
    const full = memoryLeases();
    acquire(full, 100_000);
    const [withMany, withNone] = await leastTimes(
      () => {
        acquire(full, 5_000);
      },
      () => {
        acquire(memoryLeases(), 5_000);
      },
    );
    // A store that looks through its keys takes thousands of times as long.
    expect(withMany).toBeLessThan(20 * withNone + NOISE);
  });

  it('refuse new keys when there are as many as they may keep, and forget none for it', () => {
    jest.useFakeTimers();
    try {
      const leases = memoryLeases({ maxKeys: 2 });
      for (const key of ['one', 'two']) void leases.acquire(key, 'a', 60_000);
      void leases.complete('one', 'a', 60_000);
      expect(() => leases.acquire('three', 'b', 60_000)).toThrow(
        'memoryLeases: all 2 keys are in use. Raise maxKeys, shorten cacheDuration, or use redisLeases() or postgresLeases().',
      );
      expect(leases.acquire('one', 'b', 60_000)).toEqual({ kind: 'done', token: 'a' });
      expect(leases.acquire('two', 'a', 60_000)).toEqual({ kind: 'acquired' });
      jest.advanceTimersByTime(70_000);
      expect(leases.acquire('three', 'b', 60_000)).toEqual({ kind: 'acquired' });
    } finally {
      jest.useRealTimers();
    }
  });

  it('accept a new key when one of those they keep has expired', () => {
    jest.useFakeTimers();
    try {
      const leases = memoryLeases({ maxKeys: 2 });
      for (const key of ['one', 'two']) void leases.complete(key, 'a', 2_000);
      expect(() => leases.acquire('three', 'b', 60_000)).toThrow('all 2 keys are in use');
      jest.advanceTimersByTime(2_001);
      expect(leases.acquire('three', 'b', 60_000)).toEqual({ kind: 'acquired' });
    } finally {
      jest.useRealTimers();
    }
  });

  it.each([{ maxKeys: 0 }, { maxKeys: '1' }, { keys: 1 }])('refuse the options %j', options => {
    expect(() => memoryLeases(options as object)).toThrow(TypeError);
  });

  it('remove expired leases without a call', () => {
    jest.useFakeTimers();
    try {
      const leases = leasesWithFakeSweeps();
      const { leases: kept } = leases as unknown as { leases: Map<string, unknown> };
      void leases.acquire('short', 'a', 1_000);
      void leases.complete('long', 'a', 25_000);
      expect(kept.size).toBe(2);
      jest.advanceTimersByTime(10_000);
      expect([...kept.keys()]).toEqual(['long']);
      jest.advanceTimersByTime(20_000);
      expect(kept.size).toBe(0);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
