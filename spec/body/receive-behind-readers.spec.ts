import type { ErrorRequestHandler, RequestHandler } from 'express';
import { bindRequest, dto, idempotency, optional, string } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { send } from '../support/listen';

class Note extends dto({ a: optional(string) }) {}

const readers: readonly (readonly [what: string, reader: RequestHandler])[] = [
  [
    'has a listener for its data',
    (req, _res, next) => {
      req.on('data', () => undefined);
      next();
    },
  ],
  [
    'has read some of it, and has paused it',
    (req, _res, next) => {
      req.once('data', () => {
        req.pause();
        next();
      });
    },
  ],
  [
    'has let it flow for a while',
    (req, _res, next) => {
      req.resume();
      setImmediate(next);
    },
  ],
  [
    'has read it chunk by chunk',
    (req, _res, next) => {
      void (async () => {
        for await (const chunk of req) void chunk;
        next();
      })();
    },
  ],
];
const guards: readonly (readonly [name: string, guard: () => RequestHandler])[] = [
  ['idempotency()', () => idempotency()],
  ['bindRequest()', () => bindRequest(Note, { allowFormData: true }) as unknown as RequestHandler],
];

describe.each(expressVersions)('%s', (_version, make) => {
  /** Answers with the message of an error. */
  const served = (...middlewares: readonly RequestHandler[]) => {
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    };
    const ran: RequestHandler = (_req, res) => {
      res.end('ran');
    };
    return serve(
      make()
        .all('/', ...middlewares, ran)
        .use(onError),
    );
  };
  const post = async (url: string, body: string, headers: Record<string, string> = {}): Promise<string> =>
    (await send(url, { headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json', ...headers }, body }))
      .text;
  const told = /the request body was read before this middleware.*Mount it before.*req\.rawBody/;

  describe.each(guards)('%s', (_guard, guard) => {
    it.each(readers)('a body of which an earlier middleware %s is an error that says what to do', async (...row) => {
      const { url } = await served(row[1], guard());
      expect(await post(url, '{"a":"x"}')).toMatch(told);
      expect(await post(url, `{"a":"${'x'.repeat(300_000)}"}`, { 'Transfer-Encoding': 'chunked' })).toMatch(told);
    });

    it('a request without a body is served behind a reader', async () => {
      const { url } = await served((req, _res, next) => {
        req.on('data', () => undefined);
        next();
      }, guard());
      expect((await send(url, { method: 'GET', headers: { 'Idempotency-Key': 'k' } })).text).toBe('ran');
    });
  });
});
