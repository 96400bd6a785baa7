import type { RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

/** Bytes of which none of the encodings makes whole groups; more than a MiB waits on disk. */
const sizes = [10, 65_537, 1_048_576, 1_048_577, 2_000_000];
const encodings = ['utf8', 'utf16le', 'latin1', 'hex', 'base64'] as const;

const bodyOf = (size: number): Buffer => Buffer.from('é€x'.repeat(size)).subarray(0, size);

/** Reads text, by events or by iteration. */
const readers: readonly [how: string, read: (encoding: BufferEncoding) => RequestHandler][] = [
  [
    'events',
    encoding => (req, res) => {
      const pieces: unknown[] = [];
      req.on('data', piece => pieces.push(piece)).setEncoding(encoding);
      req.on('end', () => res.json(pieces.every(piece => typeof piece === 'string') && pieces.join('')));
    },
  ],
  [
    'iteration',
    encoding => async (req, res) => {
      let text = '';
      for await (const piece of req.setEncoding(encoding)) text += String(piece);
      res.json(text);
    },
  ],
];

describe.each(expressVersions)('a body that was put back, on %s', (_version, express) => {
  describe.each(readers)('is read as text by %s', (_how, read) => {
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
