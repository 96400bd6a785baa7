import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { HeaderLine, RecordedResponse } from '../../../lib';
import { LONGEST_BODY, MemoryResponses } from '../../../lib/idempotency/stores/memory-responses';

const response = (body = Buffer.from('x')): RecordedResponse => ({ status: 201, headers: [], body, trailers: [] });

const run = promisify(execFile);
const root = join(__dirname, '../../..');

describe('the default store', () => {
  it('returns no response to the wrong key: a lease store may mix up its answers', () => {
    const store = new MemoryResponses();
    store.set('alice', 't', response(), 60_000);
    expect([store.get('bob', 't'), store.get('alice', 't')?.status]).toEqual([undefined, 201]);
  });

  it('forgets what has expired', async () => {
    const store = new MemoryResponses();
    for (const token of ['a', 'b']) store.set('k', token, response(), 20);
    const over = performance.now() + 20;
    while (performance.now() < over) await new Promise(setImmediate);
    store.set('k', 'c', response(), 60_000);
    expect([store.size, store.get('k', 'c')?.status]).toEqual([1, 201]);
  });

  it('keeps no more than 64 MiB, the newest', () => {
    const store = new MemoryResponses();
    const megabyte = response(Buffer.alloc(1_048_576, 'x'));
    store.set('k', 't0', megabyte, 60_000);
    store.delete('k', 't0');
    for (let index = 0; index < 200; index++) store.set('k', `t${index}`, megabyte, 60_000);
    store.set('k', 't199', megabyte, 60_000);
    const kept = Array.from({ length: 200 }, (_, index) => store.get('k', `t${index}`) !== undefined);
    expect([kept.indexOf(true), kept.filter(Boolean).length]).toEqual([137, 63]);
  });

  it('keeps the longest body that idempotency() accepts for it, with a head of 1 MiB', () => {
    const store = new MemoryResponses();
    const headers = Array.from({ length: 1_000 }, (_, index): HeaderLine => [`X-${index}`, 'x'.repeat(1_000)]);
    store.set('k', 't', { ...response(Buffer.alloc(LONGEST_BODY)), headers }, 60_000);
    expect(store.get('k', 't')?.body.length).toBe(LONGEST_BODY);
  });

  it.each([
    ['without headers', 0, 2],
    ['with twenty headers', 20, 200],
    ['with 3,000 bytes', 1, 3_000],
  ])('counts the memory that responses %s take', async (_title, lines, length) => {
    const script = `
      const { defaultStore } = require('./dist/idempotency/stores/memory-responses.js');
      const store = defaultStore();
      for (let index = 0; index < 150_000; index++) {
        const hex = index.toString(16);
        const headers = Array.from({ length: ${lines} }, (_, line) => ['X-Header-' + line, hex + line]);
        const response = { status: 201, headers, trailers: [], body: Buffer.from('x'.repeat(${length})) };
        store.set(hex.padStart(64, '0'), 'any.' + hex.padStart(32, '0'), response, 600_000);
      }
      gc();
      const { heapUsed, external } = process.memoryUsage();
      console.log((heapUsed + external) / 1_048_576);`;
    const { stdout } = await run(process.execPath, ['--expose-gc', '-e', script], { cwd: root });
    expect(Number(stdout)).toBeLessThan(90);
  });
});

it('a process with a small heap that gets new keys only is warned, and refuses them with 503 before its memory ends', async () => {
  const program = join(root, 'spec/support/programs/new-keys.mjs');
  const { stdout, stderr } = await run(process.execPath, ['--max-old-space-size=128', program], { cwd: root });
  const { statuses, refused, replayed } = JSON.parse(stdout) as Record<string, unknown>;
  expect(statuses).toEqual([201, 503]);
  expect(refused).toContain('store-unavailable');
  // The last of those that ran.
  expect(replayed).toBe('true');
  expect(stderr.match(/\[BINDONCE_MEMORY_KEYS\]/g)).toHaveLength(1);
});
