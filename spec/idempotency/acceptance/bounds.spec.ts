import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createClient } from '@keyv/redis';
import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { idempotency, memoryLeases, redisLeases, type LeaseStore } from '../../../lib';
import { send } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

/** What has broken in other libraries, and must hold where there is very much of something. */

describe.each(expressVersions)('a response over the cap (%s)', (_version, version) => {
  const responses: [how: string, handler: RequestHandler][] = [
    ['send', (_req, res) => void res.send('x'.repeat(1_001))],
    [
      'a stream',
      async (_req, res) => {
        await pipeline(Readable.from(['y'.repeat(900), 'z'.repeat(101)]), res);
      },
    ],
    ['a file', (_req, res) => res.sendFile(__filename)],
    [
      'writes under a Content-Length',
      (_req, res) => {
        res.set('Content-Length', '2000').write(Buffer.alloc(1_000));
        res.end(Buffer.alloc(1_000));
      },
    ],
  ];

  it.each(responses)(
    'by %s goes out whole; the request is never run again, and each duplicate gets an answer that says why',
    async (_how, handler) => {
      const started = signal();
      const end = signal();
      let runs = 0;
      const app = version()
        .post('/bare', handler)
        .post('/', idempotency({ maxResponseBytes: 1_000 }), async (req, res, next) => {
          runs++;
          started.happens();
          await end.happened;
          await handler(req, res, next);
        });
      const { url } = await serve(app);
      const first = send(url, { headers: keyed('k') });
      await started.happened;
      const waiting = send(url, { headers: keyed('k') });
      end.happens();
      expect((await first).body).toEqual((await send(`${url}/bare`)).body);
      for (const duplicate of [
        await waiting,
        await send(url, { headers: keyed('k') }),
        await send(url, { headers: keyed('k') }),
      ]) {
        expect(JSON.parse(duplicate.text)).toMatchObject({
          status: 409,
          type: 'urn:bindonce:response-unavailable',
          detail: expect.stringMatching(/executed before and is not executed again/) as unknown,
        });
      }
      expect(runs).toBe(1);
    },
  );

  it('that is exactly as long as the cap is kept', async () => {
    let runs = 0;
    const { url } = await serve(
      version().post('/', idempotency({ maxResponseBytes: 1_000 }), (_req, res) => {
        runs++;
        res.send('x'.repeat(1_000));
      }),
    );
    await send(url, { headers: keyed('k') });
    expect([(await send(url, { headers: keyed('k') })).text.length, runs]).toEqual([1_000, 1]);
  });
});

describe('a process', () => {
  let server: NodeProcess | undefined;
  afterEach(() => server?.kill());
  const start = async (options: object, EXPRESS = 'express'): Promise<string> => {
    server = await NodeProcess.start(join(__dirname, '../../support/programs/heavy-server.mjs'), {
      EXPRESS,
      OPTIONS: JSON.stringify(options),
    });
    return server.url;
  };
  const memory = async (url: string): Promise<{ rss: number; used: number }> =>
    JSON.parse((await send(`${url}/memory`, { method: 'GET' })).text) as { rss: number; used: number };

  it.each(['express', 'express4'])(
    'with ignoreRequestBody, 1 GB passes through %s in constant memory',
    async EXPRESS => {
      const GIGABYTE = 1_000_000_000;
      const piece = Buffer.alloc(1_000_000, 'x');
      const url = await start({ ignoreRequestBody: true }, EXPRESS);
      const { rss } = await memory(url);
      const upload = request(`${url}/upload`, {
        method: 'POST',
        headers: keyed('k', { 'Content-Length': String(GIGABYTE), 'Content-Type': 'application/octet-stream' }),
        agent: false,
      });
      const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
      for (let sent = 0; sent < GIGABYTE; sent += piece.length) if (!upload.write(piece)) await once(upload, 'drain');
      upload.end();
      const [response] = await answered;
      let text = '';
      for await (const chunk of response) text += String(chunk);
      const { bytes, most } = JSON.parse(text) as { bytes: number; most: number };
      expect(bytes).toBe(GIGABYTE);
      // Pieces of 64 KiB that wait to be collected; without us it is the same.
      expect(most - rss).toBeLessThan(150_000_000);
    },
    60_000,
  );

  it('memory stays under the bound of the default store, and an evicted response is not made again', async () => {
    const url = await start({});
    const { used } = await memory(url);
    const download = (key: number) => send(`${url}/download`, { headers: keyed(String(key)) });
    for (let key = 0; key < 150; key++) await download(key);
    // 64 MiB, and what else the process has come to hold.
    expect((await memory(url)).used - used).toBeLessThan(110_000_000);
    expect([(await download(0)).status, (await download(149)).headers['idempotent-replayed']]).toEqual([409, 'true']);
  });
});

describe('100,000 live keys', () => {
  const LIVE = 100_000;
  const token = `any.${'0'.repeat(32)}`;

  /**
   * Milliseconds of a first request with each of the leases, the medians of 200. They are measured in turns, so that
   * whatever else slows the machine slows both.
   */
  async function costs(...leases: [LeaseStore, LeaseStore]): Promise<[number, number]> {
    const app = express();
    for (const [index, each] of leases.entries())
      app.post(`/${index}`, idempotency({ store: new Keyv(), leases: each }), (_req, res) => void res.end());
    const { url } = await serve(app);
    const times: [number[], number[]] = [[], []];
    for (let key = 0; key < 200; key++)
      for (const [index, taken] of times.entries()) {
        const started = performance.now();
        await (await fetch(`${url}/${index}`, { method: 'POST', headers: keyed(String(key)) })).arrayBuffer();
        taken.push(performance.now() - started);
      }
    const median = (taken: number[]) => taken.sort((a, b) => a - b)[100] ?? Infinity;
    return [median(times[0]), median(times[1])];
  }

  it('in memory do not slow an acquire', async () => {
    const leases = memoryLeases();
    for (let key = 0; key < LIVE; key++) {
      await leases.acquire(`live ${key}`, token, 60_000);
      if (key % 2) await leases.complete(`live ${key}`, token, 60_000);
    }
    const [empty, full] = await costs(memoryLeases(), leases);
    expect(full).toBeLessThan(2 * empty + 1);
  });

  it('on Redis do not slow an acquire', async () => {
    const servers = [await RedisServer.start(), await RedisServer.start()] as const;
    const clients = [createClient({ url: servers[0].url }), createClient({ url: servers[1].url })] as const;
    for (const client of clients) await client.connect();
    const leases = redisLeases(clients[1]);
    for (let key = 0; key < LIVE; key += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, more) => leases.acquire(`live ${key + more}`, token, 60_000)),
      );
    const [empty, full] = await costs(redisLeases(clients[0]), leases);
    expect(full).toBeLessThan(2 * empty + 1);
    for (const client of clients) client.destroy();
    for (const server of servers) await server.stop();
  });
});
