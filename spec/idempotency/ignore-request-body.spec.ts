import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { pipeline, Writable } from 'node:stream';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { idempotency } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

const MEGABYTE = Buffer.alloc(1_000_000, 'x');
const headers = keyed('k', { 'Content-Type': 'application/octet-stream' });

describe.each(expressVersions)('with ignoreRequestBody on %s', (_version, express) => {
  const options = { ignoreRequestBody: true };

  it('the handler gets the first bytes of an upload before the last are sent', async () => {
    const half = signal();
    const app = express().post('/', idempotency(options), (req, res) => {
      let bytes = 0;
      req
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes >= 15_000_000) half.happens();
        })
        .on('end', () => void res.json({ bytes }));
    });
    const { url } = await serve(app);
    const upload = request(url, { method: 'POST', headers, agent: false });
    const answered = once(upload, 'response');
    for (let sent = 0; sent < 15; sent++) upload.write(MEGABYTE);
    await half.happened;
    for (let sent = 15; sent < 30; sent++) upload.write(MEGABYTE);
    upload.end();
    const [response] = (await answered) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(text).toBe('{"bytes":30000000}');
  });

  it('nothing is read for a handler that does not look at the body, and the body may be over maxRequestBytes', async () => {
    const seen: boolean[] = [];
    const app = express().post('/', idempotency({ ...options, maxRequestBytes: 10 }), (req, res) => {
      seen.push(req.readableDidRead, req.readableFlowing !== null);
      res.end();
    });
    const { url } = await serve(app);
    expect((await send(url, { headers, body: MEGABYTE })).status).toBe(200);
    expect(seen).toEqual([false, false]);
  });

  it('a duplicate with another body is replayed while it is still being sent', async () => {
    let runs = 0;
    const { url } = await serve(
      express().post('/', idempotency(options), (req, res) => {
        runs++;
        req.resume().on('end', () => res.send('done'));
      }),
    );
    await send(url, { headers, body: 'one' });
    const upload = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': '2000000' },
      agent: false,
    }).on('error', () => undefined);
    upload.write(MEGABYTE);
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(response.headers['idempotent-replayed']).toBe('true');
    upload.destroy();
    expect(runs).toBe(1);
  });

  it('a body that an earlier middleware has read is not an error', async () => {
    const { url } = await serve(
      express().post(
        '/',
        (req, _res, next) => {
          req.resume().on('end', next);
        },
        idempotency(options),
        (_req, res) => void res.send('done'),
      ),
    );
    expect((await send(url, { headers, body: 'x' })).text).toBe('done');
  });

  describe('when an upload breaks off', () => {
    /** Sends half of a body, breaks off when the handler has begun, and sends the whole body. @returns the answer. */
    const retried = async (...handlers: RequestHandler[]): Promise<WireResponse> => {
      const begun = signal();
      const over = signal();
      const onEvent = (): void => over.happens();
      const begin: RequestHandler = (_req, _res, next) => {
        begun.happens();
        next();
      };
      const app = express().post('/', idempotency({ ...options, onEvent }), begin, ...handlers);
      const { url } = await serve(app.use(answerError));
      const length = { 'Content-Length': 2_000_000 };
      const upload = request(url, { method: 'POST', headers: { ...headers, ...length }, agent: false });
      upload.on('error', () => undefined).write(MEGABYTE);
      await begun.happened;
      upload.destroy();
      await over.happened;
      return send(url, { headers, body: MEGABYTE });
    };
    const answerError: ErrorRequestHandler = (error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(400).end('broken off');
    };
    const answerSize: RequestHandler = (req, res) => void res.json({ bytes: (req.body as Buffer).length });

    it('the error of a body parser is not stored, and the retry runs', async () => {
      const { text, headers: answered } = await retried(express.raw({ limit: '10mb' }), answerSize);
      expect([text, answered['idempotent-replayed']]).toEqual(['{"bytes":1000000}', undefined]);
    });

    it('a handler that destroys its response leaves the key free, and the retry runs', async () => {
      const { text } = await retried((req, res) => {
        let bytes = 0;
        req.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => res.json({ bytes }));
        req.on('close', () => {
          if (!req.complete) res.destroy();
        });
      });
      expect(text).toBe('{"bytes":1000000}');
    });

    it('what the handler answers all the same is stored', async () => {
      const { headers: answered } = await retried((req, res) => {
        let bytes = 0;
        const end = (): void => void res.json({ bytes });
        req.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', end);
        req.on('error', end);
      });
      expect(answered['idempotent-replayed']).toBe('true');
    });
  });

  it('an error of a handler that cannot write the upload is stored', async () => {
    let runs = 0;
    const full = (): Writable =>
      new Writable({
        write: (_chunk, _encoding, done) => done(new Error('disk full')),
      });
    const { url } = await serve(
      express().post('/', idempotency(options), (req, res) => {
        runs++;
        // It destroys the request, but not its connection.
        pipeline(req, full(), error => res.status(507).send(error?.message));
      }),
    );
    const post = () => send(url, { headers, body: MEGABYTE });
    expect([(await post()).text, (await post()).text, runs]).toEqual(['disk full', 'disk full', 1]);
  });

  it('an error before the whole upload has come is stored if its client stays', async () => {
    let runs = 0;
    const { url } = await serve(
      express().post('/', idempotency(options), (_req, res) => void res.status(403).json({ run: ++runs })),
    );
    const upload = request(url, { method: 'POST', headers: { ...headers, 'Content-Length': 2_000_000 }, agent: false });
    upload.on('error', () => undefined).write(MEGABYTE);
    await once(upload, 'response');
    upload.destroy();
    expect((await send(url, { headers, body: MEGABYTE })).text).toBe('{"run":1}');
  });
});
