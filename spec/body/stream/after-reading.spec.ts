import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buffer } from 'node:stream/consumers';
import type { Request, RequestHandler } from 'express';
import { bindRequest, dto, idempotency, int, problemDetails } from '../../../lib';
import { filesHeldIn } from '../../../lib/body/stream/held-in';
import { held } from '../../../lib/body/stream/holding';
import { expressVersions } from '../../support/express-versions';
import { fakeIntervals } from '../../support/fake-intervals';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** Waits on disk. */
const body = Buffer.alloc(3_000_000, 'x');

/** A sink that takes a chunk with each turn of the event loop, so that the response is sent long before the last one. */
class SlowSink extends Writable {
  bytes = 0;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.bytes += chunk.length;
    setImmediate(done);
  }
}

const readers: readonly [how: string, read: (req: Request) => Promise<number>][] = [
  [
    'a pipeline',
    async req => {
      const sink = new SlowSink();
      await pipeline(req, sink);
      return sink.bytes;
    },
  ],
  [
    'pipe',
    async req => {
      const sink = req.pipe(new SlowSink());
      await once(sink, 'finish');
      return sink.bytes;
    },
  ],
  [
    'iteration',
    async req => {
      let bytes = 0;
      for await (const chunk of req) {
        bytes += (chunk as Buffer).length;
        await turn();
      }
      return bytes;
    },
  ],
];

describe.each(expressVersions)('a body that no one reads, on %s,', (_v, express) => {
  const guard = (): RequestHandler => idempotency({ whenKeyReused: 'reject' });
  class Payment extends dto({ amount: int }) {}
  const small = '{"amount":5}';
  const large = JSON.stringify({ amount: 5, text: 'x'.repeat(2_000_000) });

  it.each<[string, () => RequestHandler[], statuses: number[], bodies: string[]]>([
    ['without a guard', () => [], [200], [small]],
    ['behind idempotency()', () => [guard()], [200, 200], [small, small]],
    ['behind idempotency(), on disk', () => [guard()], [200, 200], [large, large]],
    ['in a replay', () => [guard(), express.json()], [200, 200], [small, small]],
    ['in a refusal of the key', () => [guard(), express.json()], [200, 422], [small, '{}']],
    ['behind bindRequest()', () => [bindRequest(Payment)], [200], [small]],
    [
      'behind bindRequest(), on disk',
      () => [bindRequest(Payment, { limits: { bodyBytes: 5_000_000 } })],
      [200],
      [large],
    ],
    ['in a refusal of bindRequest()', () => [bindRequest(Payment)], [400], ['{"amount":"five"}']],
    ['behind both', () => [guard(), bindRequest(Payment)], [200, 200], [small, small]],
  ])('%s, is discarded after the response: the request emits end and close', async (_where, make, statuses, bodies) => {
    const ended: Promise<unknown>[] = [];
    const app = express()
      .use((req, _res, next) => {
        ended.push(Promise.all([once(req, 'end'), once(req, 'close')]));
        next();
      })
      .post('/', ...make(), (_req, res) => {
        res.json({ done: true });
      });
    const { url } = await serve(app.use(problemDetails()));
    for (const [index, body] of bodies.entries()) {
      const headers = keyed('k', { 'Content-Type': 'application/json' });
      expect((await send(url, { headers, body })).status).toBe(statuses[index]);
    }
    await Promise.all(ended);
    expect(held.bytes).toEqual({ memory: 0, ramDisk: 0, disk: 0 });
  });
});

describe.each(expressVersions)('a body whose handler responds before it has read it, on %s,', (_v, express) => {
  it.each(readers)('is read to its end by %s, and is given back then', async (_how, read) => {
    const reading = signal<Promise<number>>();
    const app = express().post('/', idempotency(), (req, res) => {
      reading.happens(read(req));
      res.status(202).end();
    });
    const { url } = await serve(app);
    expect((await send(url, { headers: keyed('k'), body })).status).toBe(202);
    expect(await await reading.happened).toBe(body.length);
    await turn();
    expect(held.bytes).toEqual({ memory: 0, ramDisk: 0, disk: 0 });
  });

  it('fails where its reader stops for 30 seconds: it does not look whole, and the connection stays open', async () => {
    fakeIntervals();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const stopped = signal<Request>();
      const app = express().post('/', idempotency(), (req, res) => {
        if (req.get('Content-Length') === '0') {
          res.end('next');
          return;
        }
        req.on('data', () => {
          req.pause();
          res.status(202).end();
          stopped.happens(req);
        });
      });
      const { url } = await serve(app);
      const post = async (key: string, sent: Buffer): Promise<string> => {
        const asked = request(url, {
          method: 'POST',
          agent,
          headers: { ...keyed(key), 'Content-Length': sent.length },
        });
        asked.end(sent);
        const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
        return String(await buffer(response));
      };
      await post('k', body);
      const req = await stopped.happened;
      while (held.bytes.memory > 0) await turn();
      const failed = once(req, 'error');
      expect(held.bytes[filesHeldIn(tmpdir())]).toBeGreaterThan(0);
      jest.advanceTimersByTime(60_000);
      expect(String(await failed)).toMatch(/for 30 seconds nothing was read from its body/);
      await turn();
      expect(held.bytes).toEqual({ memory: 0, ramDisk: 0, disk: 0 });
      expect(await post('l', Buffer.alloc(0))).toBe('next');
      expect(req.socket.destroyed).toBe(false);
    } finally {
      agent.destroy();
    }
  });

  it.each<[string, (req: Request) => unknown]>([
    ['has read some of it and stopped', req => req.once('data', () => req.pause())],
    ['has only set its encoding', req => req.setEncoding('utf8')],
  ])('is removed at once where its handler %s', async (_what, read) => {
    const app = express().post('/', idempotency(), (req, res) => {
      read(req);
      setImmediate(() => res.status(415).end());
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k'), body });
    await turn();
    expect(held.bytes).toEqual({ memory: 0, ramDisk: 0, disk: 0 });
  });

  it.each<[string, Buffer]>([
    ['on disk', body],
    ['in memory', Buffer.from('{"amount":5}')],
  ])('%s fails for a reader that begins after the response has been sent', async (_where, body) => {
    const sent = signal<Request>();
    const app = express().post('/', idempotency(), (req, res) => {
      res.once('close', () => {
        sent.happens(req);
      });
      res.status(202).end();
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k'), body });
    const late = await sent.happened;
    await turn();
    await expect(buffer(late)).rejects.toThrow('this body was removed when its request was over');
  });
});
