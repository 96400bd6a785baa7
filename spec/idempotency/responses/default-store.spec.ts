import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Keyv } from 'keyv';
import { defaultStore } from '../../../lib/idempotency/responses/default-store';

const MEGABYTE = 'x'.repeat(1_048_576);

/** The default store of a process whose clock stands still from the start. */
function freshStore(): Keyv {
  Reflect.deleteProperty(globalThis, Symbol.for('bindonce.store'));
  let store: Keyv | undefined;
  jest.isolateModules(() => {
    store = jest
      .requireActual<typeof import('../../../lib/idempotency/responses/default-store')>(
        '../../../lib/idempotency/responses/default-store',
      )
      .defaultStore();
  });
  Reflect.deleteProperty(globalThis, Symbol.for('bindonce.store'));
  if (!store) throw new Error('There is no store');
  return store;
}

describe('the default store', () => {
  it('is one for the process', () => {
    expect(defaultStore()).toBe(defaultStore());
  });

  it('keeps what was used last, and no more than 128 MiB', async () => {
    const store = defaultStore();
    await store.set('used', MEGABYTE);
    for (let index = 0; index < 160; index++) {
      await store.set(`k${index}`, MEGABYTE);
      await store.get('used');
    }
    const kept = await Promise.all(Array.from({ length: 160 }, (_, index) => store.has(`k${index}`)));
    expect(kept.filter(Boolean).length).toBeLessThan(128);
    expect(kept.filter(Boolean).length).toBeGreaterThan(100);
    expect([kept[0], kept[159], await store.has('used')]).toEqual([false, true, true]);
    await store.clear();
  });

  it('counts the heap that small responses take, not only their characters', async () => {
    const script = `
      const { responsesIn } = require('./dist/idempotency/responses/response-store.js');
      const { defaultStore } = require('./dist/idempotency/responses/default-store.js');
      const responses = responsesIn(defaultStore());
      const response = { status: 201, reason: 'Created', headers: [['Content-Type', 'application/json']], trailers: [], body: Buffer.from('{}') };
      (async () => {
        for (let index = 0; index < 300_000; index++) await responses.write(index.toString(16).padStart(64, '0'), 'any.' + index.toString(16).padStart(32, '0'), response, 600_000);
        gc();
        console.log(process.memoryUsage().heapUsed / 1_048_576);
      })();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '-e', script], {
      cwd: join(__dirname, '../../..'),
    });
    expect(Number(stdout)).toBeLessThan(160);
  });

  it('removes expired responses without a call, and then stops its timer', async () => {
    jest.useFakeTimers();
    try {
      const store = freshStore();
      const map = store.store as Map<string, unknown>;
      // An entry of the time 0 has no time for lru-cache.
      jest.advanceTimersByTime(1);
      await store.set('short', 'x', 1_000);
      await store.set('long', 'x', 50_000);
      expect(map.size).toBe(2);
      jest.advanceTimersByTime(30_000);
      expect(map.size).toBe(1);
      expect(await store.get('long')).toBe('x');
      jest.advanceTimersByTime(30_000);
      expect(map.size).toBe(0);
      jest.advanceTimersByTime(30_000);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
