import { memoryLeases } from '../../../lib';
import { warned } from '../../../lib/warnings/warn-once';
import { leaseStoreContract } from '../../../lib/testing';

leaseStoreContract('memoryLeases()', () => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
});

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

  it.each([{ maxKeys: 0 }, { maxKeys: '1' }, { keys: 1 }])('refuse the options %j', options => {
    expect(() => memoryLeases(options as object)).toThrow(TypeError);
  });

  it('forget what has expired while new keys come, at no time many at once', () => {
    jest.useFakeTimers();
    try {
      const leases = memoryLeases();
      const { leases: kept } = leases as unknown as { leases: Map<string, unknown> };
      void leases.complete('long', 'a', 600_000);
      for (let key = 0; key < 1_000; key++) void leases.complete(`short ${key}`, 'a', 1_000);
      jest.advanceTimersByTime(1_001);
      for (let key = 0; key < 300; key++) {
        const before = kept.size;
        void leases.acquire(`new ${key}`, 'a', 60_000);
        expect(before - kept.size).toBeLessThan(10);
      }
      expect([kept.size, kept.has('long'), kept.has('new 0')]).toEqual([301, true, true]);
      jest.advanceTimersByTime(60_001);
      for (let key = 0; key < 200; key++) void leases.acquire(`newer ${key}`, 'a', 60_000);
      expect([kept.size, kept.has('long')]).toEqual([201, true]);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('warn the process once, before new keys are refused', () => {
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    warned.delete('BINDONCE_MEMORY_KEYS');
    const leases = memoryLeases({ maxKeys: 10 });
    for (let key = 0; key < 8; key++) void leases.acquire(`${key}`, 'a', 60_000);
    expect(emitWarning).not.toHaveBeenCalled();
    for (let key = 8; key < 10; key++) void leases.acquire(`${key}`, 'a', 60_000);
    expect(emitWarning.mock.calls).toEqual([
      [expect.stringContaining('8 keys are kept in memory, and from 10 on'), { code: 'BINDONCE_MEMORY_KEYS' }],
    ]);
    emitWarning.mockRestore();
  });
});
