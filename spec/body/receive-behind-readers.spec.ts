import { PassThrough, Writable } from 'node:stream';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { bindRequest, dto, idempotency, optional, string } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';
import { send } from '../support/listen';

class Note extends dto({ a: string }) {}

/** Milliseconds within which there is an answer. */
const QUICK = 20_000;
const bodies = [
  ['JSON', 'application/json', Buffer.from('{"a":"x"}')],
  ['300 KB of JSON', 'application/json', Buffer.from(JSON.stringify({ a: 'x'.repeat(300_000) }))],
  ['a form', 'multipart/form-data; boundary=b1', multipart([{ name: 'a', value: 'x' }], 'b1').body],
] as const;
const framings: readonly Record<string, string>[] = [{}, { 'Transfer-Encoding': 'chunked' }];
const guards: readonly (readonly [name: string, guard: () => RequestHandler])[] = [
  ['idempotency()', () => idempotency()],
  ['bindRequest()', () => bindRequest(Note, { allowFormData: true }) as unknown as RequestHandler],
];

const later = (next: () => void): void => {
  setTimeout(next, 20);
};
const readers: readonly (readonly [what: string, reader: RequestHandler])[] = [
  [
    'has a listener for its data',
    (req, _res, next) => {
      req.on('data', () => undefined);
      next();
    },
  ],
  [
    'has had a listener for its data for a while',
    (req, _res, next) => {
      req.on('data', () => undefined);
      later(next);
    },
  ],
  [
    'has a listener for its data, and has paused it',
    (req, _res, next) => {
      req.on('data', () => undefined).pause();
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
    'lets it flow',
    (req, _res, next) => {
      req.resume();
      next();
    },
  ],
  [
    'has let it flow for a while',
    (req, _res, next) => {
      req.resume();
      later(next);
    },
  ],
  [
    'pipes it to where it is read',
    (req, _res, next) => {
      req.pipe(
        new Writable({
          write: (_chunk, _encoding, done) => {
            done();
          },
        }),
      );
      next();
    },
  ],
  [
    'pipes it to where nobody reads it',
    (req, _res, next) => {
      req.pipe(new PassThrough({ highWaterMark: 1 }));
      next();
    },
  ],
  [
    'is just reading it chunk by chunk',
    (req, _res, next) => {
      void (async () => {
        for await (const chunk of req) void chunk;
      })();
      next();
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
  [
    'listens for when it is readable',
    (req, _res, next) => {
      req.on('readable', () => {
        req.read();
      });
      next();
    },
  ],
];

const rows = expressVersions.flatMap(([version, make]) =>
  guards.flatMap(([guard, guarded]) =>
    readers.map(([what, reader]) => ({ version, make, guard, guarded, what, reader })),
  ),
);

it.each(rows)(
  'a body of which an earlier middleware $what is an error that says what to do: $guard, $version',
  async ({ make, guarded, reader }) => {
    // All at once: the middleware waits for a reader that has stopped for two seconds.
    await Promise.all(
      bodies
        .flatMap(([, type, body]) => framings.map(framing => [type, body, framing] as const))
        .map(async ([type, body, framing]) => {
          const errors: Error[] = [];
          const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
            errors.push(error);
            if (res.headersSent) next(error);
            else res.status(500).end();
          };
          const { url } = await serve(
            make()
              .post('/', reader, guarded(), (_req, res) => {
                res.end('ran');
              })
              .use(onError),
          );
          const begun = performance.now();
          const { status } = await send(url, {
            headers: { 'Idempotency-Key': 'k', 'Content-Type': type, ...framing },
            body,
          });
          expect([status, errors.map(({ message }) => message)]).toEqual([
            500,
            [expect.stringMatching(/the request body was read before this middleware.*Mount it before.*req\.rawBody/)],
          ]);
          expect(performance.now() - begun).toBeLessThan(QUICK);
        }),
    );
  },
);

describe.each(expressVersions)('%s', (_version, make) => {
  const loggers: readonly (readonly [when: string, logger: RequestHandler])[] = [
    [
      'before it goes on',
      (req, _res, next) => {
        const chunks: Buffer[] = [];
        req
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            Object.assign(req, { rawBody: Buffer.concat(chunks) });
            next();
          });
      },
    ],
    [
      'after it has gone on',
      (req, _res, next) => {
        const chunks: Buffer[] = [];
        req
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            Object.assign(req, { rawBody: Buffer.concat(chunks) });
          });
        next();
      },
    ],
    [
      'chunk by chunk',
      (req, _res, next) => {
        void (async () => {
          const chunks: Buffer[] = [];
          for await (const chunk of req) chunks.push(chunk as Buffer);
          Object.assign(req, { rawBody: Buffer.concat(chunks) });
          next();
        })();
      },
    ],
  ];

  it.each(loggers)('a logger that copies the bytes to req.rawBody %s is no hindrance', async (_when, logger) => {
    for (const [, type, body] of bodies)
      for (const framing of framings) {
        let runs = 0;
        const { url } = await serve(
          make().post('/', logger, idempotency(), bindRequest(Note, { allowFormData: true }), (req, res) => {
            res.json({ run: ++runs, length: req.dto.a.length });
          }),
        );
        const post = async (bytes: Buffer): Promise<unknown> =>
          JSON.parse(
            (await send(url, { headers: { 'Idempotency-Key': 'k', 'Content-Type': type, ...framing }, body: bytes }))
              .text,
          );
        const length = body.length > 1_000 ? 300_000 : 1;
        expect([await post(body), await post(body), await post(Buffer.from(String(body).replace(/x/, 'y')))]).toEqual([
          { run: 1, length },
          { run: 1, length },
          { run: 2, length },
        ]);
      }
  });

  it.each(readers)('a request without a body is served where a middleware %s', async (what, reader) => {
    // Where there is nothing to read, these wait for ever.
    if (what.startsWith('has read some')) return;
    for (const [, guard] of guards) {
      const { url } = await serve(
        make()
          .get('/', reader, guard(), (_req, res) => {
            res.end('ran');
          })
          .use(((error, _req, res, next) => {
            if (res.headersSent) next(error);
            else res.end('error');
          }) as ErrorRequestHandler),
      );
      const { text } = await send(`${url}/?a=x`, { method: 'GET', headers: { 'Idempotency-Key': 'k' } });
      expect(text).toBe('ran');
    }
  });

  it('an empty body in chunks that a logger has listened to is no body', async () => {
    const { url } = await serve(
      make().post(
        '/',
        (req, _res, next) => {
          req.on('data', () => undefined);
          next();
        },
        idempotency(),
        (_req, res) => {
          res.end('ran');
        },
      ),
    );
    expect(
      (
        await send(url, {
          headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' },
          body: '',
        })
      ).text,
    ).toBe('ran');
  });

  it('an empty object that Express 4 leaves for a form it cannot read does not stand for the form', async () => {
    const errors: Error[] = [];
    const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
      errors.push(error);
      if (res.headersSent) next(error);
      else res.status(500).end();
    };
    const logger: RequestHandler = (req, _res, next) => {
      req
        .on('data', () => undefined)
        .on('end', () => {
          next();
        });
    };
    const { url } = await serve(
      make()
        .post('/', make.json(), logger, idempotency(), (_req, res) => {
          res.end('ran');
        })
        .use(onError),
    );
    expect(
      (
        await send(url, {
          headers: { 'Idempotency-Key': 'k', 'Content-Type': 'multipart/form-data; boundary=b1' },
          body: multipart([{ name: 'a', value: 'x' }], 'b1').body,
        })
      ).status,
    ).toBe(500);
    expect(errors).toHaveLength(1);
  });

  // The parsers of Express 4 leave `{}` on requests of other media types.
  const kept = [
    ['JSON', 'application/json', 'urlencoded', ['{"a":"1"}', '{"a":"2"}']],
    ['a form', 'application/x-www-form-urlencoded', 'json', ['a=1', 'a=2']],
  ] as const;
  it.each(kept)(
    'never takes the answer to one body for that to another (%s that is kept elsewhere)',
    async (...row) => {
      const [, type, parser, sent] = row;
      const keepElsewhere: RequestHandler = (req, res, next) => {
        let text = '';
        req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        req.on('end', () => {
          res.locals['text'] = text;
          next();
        });
      };
      const { url } = await serve(
        make()
          .post('/', make[parser]({ extended: true }), keepElsewhere, idempotency(), (_req, res) => {
            res.end(res.locals['text']);
          })
          .use(((error, _req, res, next) => {
            if (res.headersSent) next(error);
            else res.end('error');
          }) as ErrorRequestHandler),
      );
      for (const body of sent) {
        const { text } = await send(url, { headers: { 'Idempotency-Key': 'k', 'Content-Type': type }, body });
        expect(text).toBe('error');
      }
    },
  );

  it.each([
    ['/idempotency', '&'],
    ['/idempotency', '__proto__=x'],
    ['/bind', '&'],
    ['/bind', '=1'],
    ['/bind', '__proto__=x'],
  ])('%s accepts a form in which a parser has found no fields: %s', async (path, body) => {
    class Optional extends dto({ a: optional(string) }) {}
    const { url } = await serve(
      make()
        .use(make.urlencoded({ extended: true }))
        .post('/idempotency', idempotency(), (_req, res) => {
          res.end('ran');
        })
        .post('/bind', bindRequest(Optional, { allowFormData: { urlEncoded: true } }), (req, res) => {
          res.end(`ran${req.dto.a ?? ''}`);
        }),
    );
    const headers = { 'Idempotency-Key': 'k', 'Content-Type': 'application/x-www-form-urlencoded' };
    expect((await send(`${url}${path}`, { headers, body })).text).toBe('ran');
  });
});
