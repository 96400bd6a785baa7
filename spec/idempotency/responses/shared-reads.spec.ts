import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SharedReads } from '../../../lib/idempotency/responses/shared-reads';
import { send } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

interface Answer {
  readonly status: number;
  readonly replayed: unknown;
  readonly digest: string;
}

/** Sends a request and keeps only the digest of its answer. */
const ask = (url: string, key: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: keyed(key), agent: false }, response => {
      const hash = createHash('sha256');
      response
        .on('data', (chunk: Buffer) => hash.update(chunk))
        .on('error', reject)
        .on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            replayed: response.headers['idempotent-replayed'],
            digest: hash.digest('hex'),
          });
        });
    });
    sent.on('error', reject).end();
  });

const REPORT = createHash('sha256').update(Buffer.alloc(5_000_000, 'report ')).digest('hex');

interface Fared {
  readonly runs: number;
  readonly reads: number;
  readonly events: Readonly<Record<string, number>>;
  readonly slowest: number;
}

describe('many duplicates that wait for one response of 5 MB', () => {
  let server: NodeProcess | undefined;
  afterEach(() => server?.kill());

  const started = async (env: Record<string, string>, waiters: number) => {
    server = await NodeProcess.start(join(__dirname, '../../support/programs/report-server.mjs'), env);
    const { url } = server;
    const reports = Array.from({ length: waiters + 1 }, () => ask(`${url}/report`, 'k'));
    const get = async (path: string): Promise<unknown> => JSON.parse((await send(url + path, { method: 'GET' })).text);
    while ((await get('/waiting')) !== waiters + 1) await pause(20);
    return { url, reports, fared: () => get('/fared') as Promise<Fared> };
  };

  it('cost one read of Redis, and neither they nor a hundred other requests get a 503', async () => {
    const redis = await RedisServer.start();
    const { url, reports, fared } = await started(
      { REDIS_URL: redis.url, OPTIONS: JSON.stringify({ waitTimeout: 20_000 }) },
      100,
    );
    await send(`${url}/finish`);
    const others = Array.from({ length: 100 }, (_, index) => ask(`${url}/small`, `other ${index}`));
    const answers = await Promise.all(reports);
    const statuses = (await Promise.all(others)).map(({ status }) => status);
    const { runs, reads, events, slowest } = await fared();
    await redis.stop();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(new Set(answers.map(({ status, digest }) => `${status} ${digest}`))).toEqual(new Set([`200 ${REPORT}`]));
    expect(answers.filter(({ replayed }) => replayed === 'true')).toHaveLength(100);
    expect([runs, events['waited'], events['store-failed']]).toEqual([1, 100, undefined]);
    // A result is shared for a second: while the process stands still, it may be over before the next one asks.
    expect(reads).toBeLessThanOrEqual(1 + Math.floor(slowest / 1_000));
    expect(slowest).toBeLessThan(15_000);
  }, 90_000);

  it('three hundred of them in memory hold up the process for no longer than a moment', async () => {
    const { url, reports, fared } = await started({ OPTIONS: JSON.stringify({ waitTimeout: 20_000 }) }, 300);
    await send(`${url}/finish`);
    const answers = await Promise.all(reports);
    const { runs, slowest } = await fared();
    expect(new Set(answers.map(({ status, digest }) => `${status} ${digest}`))).toEqual(new Set([`200 ${REPORT}`]));
    expect(runs).toBe(1);
    expect(slowest).toBeLessThan(15_000);
  }, 90_000);
});

describe('reads that are shared', () => {
  const make = (sizeOf: (result: string) => number = ({ length }) => length) => {
    const reads = new SharedReads<string>(sizeOf);
    const state = { asked: 0 };
    return {
      reads,
      state,
      read: (key = 'k', result: string | undefined = 'x') =>
        reads.read(
          key,
          () => {
            state.asked++;
            return Promise.resolve(result);
          },
          500,
        ),
    };
  };
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are one while they are under way, and for a second after the result has come', async () => {
    const { read, state } = make();
    expect(await Promise.all([read(), read(), read()])).toEqual(['x', 'x', 'x']);
    jest.advanceTimersByTime(900);
    await read();
    expect(state.asked).toBe(1);
    jest.advanceTimersByTime(101);
    await read();
    expect(state.asked).toBe(2);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('that the store does not answer are waited for only by those who come soon', async () => {
    const { reads, read } = make();
    const never = signal<string>();
    void reads.read('k', () => never.happened, 500);
    jest.advanceTimersByTime(501);
    expect(await read()).toBe('x');
  });

  it('are repeated after a failure, after a miss, and after the response was removed', async () => {
    const { reads, read, state } = make();
    await expect(reads.read('k', () => Promise.reject(new Error('down')), 500)).rejects.toThrow('down');
    expect(await reads.read('k', () => Promise.resolve(undefined), 500)).toBeUndefined();
    expect(await read()).toBe('x');
    reads.forget('k');
    await read();
    expect(state.asked).toBe(2);
  });

  it('keep at most 32 MiB of results, the youngest', async () => {
    const { read, state } = make(() => 10_000_000);
    for (const key of ['a', 'b', 'c', 'd']) await read(key);
    await read('d');
    await read('b');
    expect(state.asked).toBe(4);
    await read('a');
    expect(state.asked).toBe(5);
  });
});
