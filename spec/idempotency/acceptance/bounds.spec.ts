import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClient } from '@keyv/redis';
import type { RequestHandler, Response } from 'express';
import { Keyv } from 'keyv';
import { memoryLeases, redisLeases, type LeaseStore } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded } from '../../support/guarded';
import { closing, RawClient } from '../../support/raw-client';
import { keyed } from '../../support/replays';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';

/** What has broken in other libraries, and must hold where there is very much of something. */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const MEGABYTE = 1_000_000;

/** Bytes of all buffers that are still in use. V8 frees them beside its collection, not in it: what one has found, the next counts. */
async function inUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    collectGarbage();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().arrayBuffers;
}

describe.each(expressVersions)('a response over the cap (%s)', (_version, version) => {
  it.each<[how: string, act: (res: Response) => unknown]>([
    ['send', res => res.send('x'.repeat(1_001))],
    ['a stream', async res => pipeline(Readable.from(['y'.repeat(900), 'z'.repeat(101)]), res)],
    ['a file', res => res.sendFile(__filename)],
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
    const whole = 'x'.repeat(1_000);
    const { post, runs } = await guarded({ maxResponseBytes: 1_000 }, (_req, res) => res.send(whole), { version });
    await post();
    expect([(await post()).text, runs()]).toEqual([whole, 1]);
  });

  it('with ignoreRequestBody, 1 GB passes through in constant memory', async () => {
    let most = 0;
    const before = await inUse();
    const { url } = await guarded(
      { ignoreRequestBody: true },
      async (req, res) => {
        let [bytes, pieces] = [0, 0];
        for await (const chunk of req) {
          bytes += (chunk as Buffer).length;
          if (++pieces % 100 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers);
        }
        res.send(String(bytes));
      },
      { version },
    );
    const piece = Buffer.alloc(MEGABYTE, 'x');
    const upload = request(url, {
      ...{ method: 'POST', agent: false },
      headers: keyed('k', { 'Content-Length': String(1_000 * MEGABYTE) }),
    });
    const answered = once(upload, 'response') as Promise<[Readable]>;
    for (let sent = 0; sent < 1_000; sent++) if (!upload.write(piece)) await once(upload, 'drain');
    upload.end();
    expect(await text((await answered)[0])).toBe(String(1_000 * MEGABYTE));
    // Pieces of 64 KiB that wait to be collected; without us it is the same.
    expect(most - before).toBeLessThan(150 * MEGABYTE);
  }, 60_000);
});

it.each([
  ['reads it', false],
  ['is gone', true],
])('a response of 100 MB is not kept in memory when its client %s', async (_title, leaves) => {
  let kept = Infinity;
  const { port, log } = await guarded({ maxResponseBytes: MEGABYTE }, async ({ socket }, res) => {
    const gone = closing(socket);
    res.write('x');
    if (leaves) {
      client.socket.resetAndDestroy();
      await gone;
    }
    const before = await inUse();
    for (let sent = 0; sent < 100; sent++)
      await new Promise(resolve => void res.write(Buffer.alloc(MEGABYTE), resolve));
    kept = (await inUse()) - before;
    res.end();
  });
  const client = RawClient.asks(port);
  client.socket.removeAllListeners('data').resume();
  await log.first('not-stored');
  expect(kept).toBeLessThan(50 * MEGABYTE);
});

describe('a long replay', () => {
  const LONG = Buffer.alloc(5 * MEGABYTE, 'a line of some length, ');

  /** One has begun, of which its client has read nothing yet. */
  async function slowReplay() {
    const replaying = signal<Response>();
    const before: RequestHandler = (req, res, next) => {
      if (req.get('X-Slow')) replaying.happens(res);
      next();
    };
    const { port, post } = await guarded({}, (_req, res) => res.type('text').send(LONG), { before: [before] });
    await post();
    const { socket } = RawClient.asks(port, '/', ['X-Slow: 1', 'Idempotency-Key: k', 'Connection: close']);
    socket.removeAllListeners('data').pause();
    const res = await replaying.happened;
    while (!res.headersSent) await new Promise(setImmediate);
    return { client: socket, res };
  }

  it('waits for a client that reads slowly: no more than a piece of it waits in the connection', async () => {
    const { client, res } = await slowReplay();
    let most = 0;
    let received = 0;
    client.on('data', (chunk: Buffer) => {
      received += chunk.length;
      most = Math.max(most, res.writableLength, res.socket?.writableLength ?? 0);
      client.pause();
      setImmediate(() => client.resume());
    });
    client.resume();
    await once(client, 'end');
    expect(received).toBeGreaterThan(LONG.length);
    expect(most).toBeLessThan(140_000);
  });

  it('stops when its client leaves, and leaves no listener', async () => {
    const { client, res } = await slowReplay();
    const written = jest.spyOn(res, 'write');
    client.destroy();
    await once(res, 'close');
    const then = written.mock.calls.length;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect([written.mock.calls.length - then, res.listenerCount('drain')]).toEqual([0, 0]);
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
    const shops = await Promise.all(leases.map(each => guarded({ store: new Keyv(), leases: each })));
    const times: [number[], number[]] = [[], []];
    for (let key = 0; key < 200; key++)
      for (const [index, taken] of times.entries()) {
        const started = performance.now();
        await (await fetch(shops[index]?.url ?? '', { method: 'POST', headers: keyed(String(key)) })).arrayBuffer();
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
