import { memoryLeases } from '../../../lib';
import { warned } from '../../../lib/warnings/warn-once';
import { leaseStoreContract } from '../../../lib/testing';

leaseStoreContract('memoryLeases()', () => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
});

describe('memoryLeases()', () => {
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
