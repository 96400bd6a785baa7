import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { createClient } from '@keyv/redis';
import express, { type Response } from 'express';
import { Keyv } from 'keyv';
import { idempotency, memoryLeases, redisLeases, type LeaseStore } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded } from '../../support/guarded';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** What has broken in other libraries, and must hold where there is very much of something. */

describe.each(expressVersions)('a response over the cap (%s)', (_version, version) => {
  it.each<[how: string, act: (res: Response) => unknown]>([
    ['send', res => res.send('x'.repeat(1_001))],
    ['a stream', async res => pipeline(Readable.from(['y'.repeat(900), 'z'.repeat(101)]), res)],
    ['a file', res => res.sendFile(__filename)],
    [
      'writes under a Content-Length',
      res => {
        res.set('Content-Length', '2000').write(Buffer.alloc(1_000));
        res.end(Buffer.alloc(1_000));
      },
    ],
  ])(
    'by %s goes out whole; the request is never run again, and each duplicate gets an answer that says why',
    async (_how, act) => {
      const [started, end] = [signal(), signal()];
      const waits = async (_req: unknown, res: Response): Promise<unknown> => {
        started.happens();
        await end.happened;
        return act(res);
      };
      const { post, runs } = await guarded({ maxResponseBytes: 1_000 }, waits, { version });
      const first = post();
      await started.happened;
      const waiting = post();
      end.happens();
      expect((await first).body).toEqual((await post({ path: '/bare' })).body);
      for (const duplicate of [await waiting, await post()])
        expect(JSON.parse(duplicate.text)).toMatchObject({
          status: 409,
          type: 'urn:bindonce:response-unavailable',
          detail: expect.stringMatching(/executed before and is not executed again/) as unknown,
        });
      expect(runs()).toBe(1);
    },
  );

  it('that is exactly as long as the cap is kept', async () => {
    const { post, runs } = await guarded({ maxResponseBytes: 1_000 }, (_req, res) => res.send('x'.repeat(1_000)), {
      version,
    });
    await post();
    expect([(await post()).text.length, runs()]).toEqual([1_000, 1]);
  });
});

describe('a process', () => {
  let server: NodeProcess | undefined;
  afterEach(() => server?.kill());
  const start = async (options: object, EXPRESS = 'express'): Promise<string> => {
    const script = join(__dirname, '../../support/programs/heavy-server.mjs');
    server = await NodeProcess.start(script, { EXPRESS, OPTIONS: JSON.stringify(options) });
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
      const { bytes, most } = JSON.parse(await text((await answered)[0])) as { bytes: number; most: number };
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
   * Of two leases, the second are filled. An acquire by a first request takes at most twice as long: the medians of 200,
   * measured in turns, so that whatever else slows the machine slows both.
   */
  async function compare(...leases: [empty: LeaseStore, full: LeaseStore]): Promise<void> {
    for (let key = 0; key < LIVE; key += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, more) => leases[1].acquire(`live ${key + more}`, token, 60_000)),
      );
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
    const [empty = 0, full = Infinity] = times.map(taken => taken.sort((a, b) => a - b)[100]);
    expect(full).toBeLessThan(2 * empty + 1);
  }

  it('in memory do not slow an acquire', () => compare(memoryLeases(), memoryLeases()));

  it('on Redis do not slow an acquire', async () => {
    const servers = [await RedisServer.start(), await RedisServer.start()] as const;
    const clients = [createClient({ url: servers[0].url }), createClient({ url: servers[1].url })] as const;
    for (const client of clients) await client.connect();
    await compare(redisLeases(clients[0]), redisLeases(clients[1]));
    for (const client of clients) client.destroy();
    for (const server of servers) await server.stop();
  });
});
