import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import type { RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { byteReaders, next, readingWhen } from '../../support/body-readers';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** Bytes of which none of the encodings makes whole groups; more than a MiB waits on disk. */
const sizes = [10, 65_537, 1_048_576, 1_048_577, 2_000_000];
const encodings = ['utf8', 'utf16le', 'latin1', 'hex', 'base64'] as const;

const bodyOf = (size: number): Buffer => Buffer.from('é€x'.repeat(size)).subarray(0, size);

/** Reads text, by events or by iteration. */
const textBy = {
  events: (encoding: BufferEncoding): RequestHandler => {
    return (req, res) => {
      const pieces: unknown[] = [];
      req.on('data', piece => pieces.push(piece)).setEncoding(encoding);
      req.on('end', () => res.json(pieces.every(piece => typeof piece === 'string') && pieces.join('')));
    };
  },
  iteration: (encoding: BufferEncoding): RequestHandler => {
    return async (req, res) => {
      let text = '';
      for await (const piece of req.setEncoding(encoding)) text += String(piece);
      res.json(text);
    };
  },
};

describe.each(expressVersions)('a body that was put back, on %s', (_version, express) => {
  /** Sends a body to a handler behind `idempotency()`, which reads it, and returns the chunks that it got. */
  async function chunksOf(size: number, read: (req: IncomingMessage) => Promise<Buffer[]>): Promise<Buffer[]> {
    const hasRead = signal<Promise<Buffer[]>>();
    const app = express().post('/', idempotency(), (req, res, next) => {
      hasRead.happens(read(req));
      hasRead.happened.then(() => res.end(), next);
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k'), body: bodyOf(size) });
    return hasRead.happened;
  }

  describe.each(byteReaders)('is read by %s', (_how, read) => {
    it.each(sizes)('of %d bytes', async size => {
      const all = Buffer.concat(await chunksOf(size, read));
      expect([all.length, all.equals(bodyOf(size))]).toEqual([size, true]);
    });
  });

  it.each<[wanted: number, size: number]>([
    [1, 65_537],
    [1, 1_048_577],
    ...[1_000, 70_000, 3_000_000].flatMap(wanted => sizes.map((size): [number, number] => [wanted, size])),
  ])('is read by %d bytes, and in the end by what is left, of %d bytes', async (wanted, size) => {
    const chunks = await chunksOf(size, req =>
      readingWhen(req, take => {
        for (let chunk = next(req, wanted); chunk; chunk = next(req, wanted)) take(chunk);
      }),
    );
    const all = Buffer.concat(chunks);
    expect([all.length, all.equals(bodyOf(size))]).toEqual([size, true]);
    expect(chunks.slice(0, -1).filter(({ length }) => length !== wanted)).toEqual([]);
  });

  it('comes back from disk in pieces', async () => {
    let most = 0;
    await chunksOf(2_000_000, req =>
      readingWhen(req, take => {
        most = Math.max(most, req.readableLength);
        const chunk = next(req);
        if (chunk) take(chunk);
      }),
    );
    // What a stream holds by itself, and a piece.
    expect(most).toBeLessThanOrEqual(2 * 65_536);
  });

  describe.each(Object.entries(textBy))('is read as text by %s', (_how, read) => {
    it.each(encodings.flatMap(encoding => sizes.map(size => [encoding, size] as const)))(
      'in %s, of %d bytes',
      async (encoding, size) => {
        const app = express().post('/', idempotency({ maxResponseBytes: 1 }), read(encoding));
        const { url } = await serve(app);
        const { body } = await send(url, { headers: keyed('k'), body: bodyOf(size) });
        expect(JSON.parse(body.toString()) === bodyOf(size).toString(encoding)).toBe(true);
      },
    );
  });

  it.each(encodings)('is read as text in %s, of one byte that comes after the head', async encoding => {
    const headCame = signal();
    const app = express().use((_req, _res, next) => {
      headCame.happens();
      next();
    });
    const { url } = await serve(app.post('/', idempotency(), textBy.events(encoding)));
    const sent = request(url, { method: 'POST', headers: keyed('k'), agent: false });
    sent.flushHeaders();
    await headCame.happened;
    sent.end(bodyOf(1));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(await json(response)).toBe(bodyOf(1).toString(encoding));
  });

  it.each(sizes)('of %d bytes looks unread, so that fetch passes it on', async size => {
    const sink = await serve((req, res) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => res.end(String(bytes)));
    });
    const app = express().post('/', idempotency(), (req, res, next) => {
      const passOn = async (): Promise<void> => {
        const wasRead = req.readableDidRead;
        const init = { method: 'POST', body: req as unknown as BodyInit, duplex: 'half' } as RequestInit;
        res.json([wasRead, await (await fetch(sink.url, init)).text(), req.readableDidRead]);
      };
      passOn().catch(next);
    });
    const { url } = await serve(app);
    const { text } = await send(url, { headers: keyed('k'), body: bodyOf(size) });
    expect(text).toBe(JSON.stringify([false, String(size), true]));
  });
});
