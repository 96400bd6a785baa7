import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultStore, LONGEST_BODY, type DefaultStore } from '../../../lib/idempotency/responses/default-store';
import {
  areTooLong,
  MAX_HEAD,
  MAX_LINES,
  type HeaderLine,
  type RecordedResponse,
} from '../../../lib/idempotency/responses/recorded-response';

const MEGABYTE = Buffer.alloc(1_048_576, 'x');

const response = (body: Buffer): RecordedResponse => ({
  status: 201,
  headers: [['Content-Type', 'application/json']],
  impliedBy: 'end',
  body,
  trailers: [],
});

/** The default store of a process whose clock stands still from the start. */
function freshStore(): DefaultStore {
  Reflect.deleteProperty(globalThis, Symbol.for('bindonce.responses'));
  let store: DefaultStore | undefined;
  jest.isolateModules(() => {
    store = jest
      .requireActual<typeof import('../../../lib/idempotency/responses/default-store')>(
        '../../../lib/idempotency/responses/default-store',
      )
      .defaultStore();
  });
  Reflect.deleteProperty(globalThis, Symbol.for('bindonce.responses'));
  if (!store) throw new Error('There is no store');
  return store;
}

describe('the default store', () => {
  it('is one for the process', () => {
    expect(defaultStore()).toBe(defaultStore());
  });

  it.each([0, 1, 4_096, 4_097, 100_000])('returns a response of %p bytes as it was', length => {
    const store = defaultStore();
    const kept = response(Buffer.from(Array.from({ length }, (_, index) => index % 256)));
    store.write('k', 't', kept, 1_000);
    expect(store.read('k', 't')).toEqual(kept);
    store.remove('k', 't');
    expect(store.read('k', 't')).toBeUndefined();
  });

  it('returns no response to the wrong key: a lease store may mix up its answers', () => {
    const store = defaultStore();
    store.write('alice', 't', response(Buffer.from('x')), 1_000);
    expect(store.read('bob', 't')).toBeUndefined();
    expect(store.read('alice', 't')).toBeDefined();
    store.remove('alice', 't');
  });

  it('keeps what was used last, and no more than 128 MiB', () => {
    const store = defaultStore();
    store.write('used', 'used', response(MEGABYTE), 60_000);
    for (let index = 0; index < 160; index++) {
      store.write('k', `t${index}`, response(MEGABYTE), 60_000);
      store.read('used', 'used');
    }
    const kept = Array.from({ length: 160 }, (_, index) => store.read('k', `t${index}`) !== undefined);
    expect(kept.filter(Boolean).length).toBeLessThan(128);
    expect(kept.filter(Boolean).length).toBeGreaterThan(100);
    expect([kept[0], kept[159], store.read('used', 'used') !== undefined]).toEqual([false, true, true]);
    for (const token of ['used', ...kept.map((_, index) => `t${index}`)]) store.remove('k', token);
  });

  it('keeps the longest body that idempotency() accepts for it, with the longest head and trailers', () => {
    const store = defaultStore();
    const lines = Array.from({ length: MAX_LINES }, (_, index): HeaderLine => [
      `X-${index}`.padEnd(MAX_HEAD / MAX_LINES / 2, '-'),
      'x'.repeat(MAX_HEAD / MAX_LINES / 2),
    ]);
    expect(areTooLong(lines)).toBe(false);
    const longest = { ...response(Buffer.alloc(LONGEST_BODY)), headers: lines, trailers: lines };
    store.write('k'.repeat(64), `purge.${'t'.repeat(64)}`, longest, 60_000);
    expect(store.read('k'.repeat(64), `purge.${'t'.repeat(64)}`)?.body.length).toBe(LONGEST_BODY);
    store.remove('k'.repeat(64), `purge.${'t'.repeat(64)}`);
  });

  it.each([
    ['without headers', 0, 2],
    ['with twenty headers', 20, 200],
    ['with 3,000 bytes', 1, 3_000],
  ])('counts the memory that responses %s take', async (_title, lines, length) => {
    const script = `
      const { defaultStore } = require('./dist/idempotency/responses/default-store.js');
      const store = defaultStore();
      for (let index = 0; index < 300_000; index++) {
        const hex = index.toString(16);
        const headers = Array.from({ length: ${lines} }, (_, line) => ['X-Header-' + line, hex + line]);
        const response = { status: 201, headers, impliedBy: 'end', trailers: [], body: Buffer.from('x'.repeat(${length})) };
        store.write(hex.padStart(64, '0'), 'any.' + hex.padStart(32, '0'), response, 600_000);
      }
      gc();
      const { heapUsed, external } = process.memoryUsage();
      console.log((heapUsed + external) / 1_048_576);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '-e', script], {
      cwd: join(__dirname, '../../..'),
    });
    expect(Number(stdout)).toBeLessThan(160);
  });

  it('removes expired responses without a call, and then stops its timer', () => {
    jest.useFakeTimers();
    try {
      const store = freshStore();
      // An entry of the time 0 has no time for lru-cache.
      jest.advanceTimersByTime(1);
      store.write('k', 'short', response(Buffer.from('x')), 1_000);
      store.write('k', 'long', response(Buffer.from('x')), 50_000);
      jest.advanceTimersByTime(30_000);
      expect(store.read('k', 'long')).toBeDefined();
      expect(jest.getTimerCount()).toBe(1);
      // The timer stops when a sweep leaves nothing.
      jest.advanceTimersByTime(30_000);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
