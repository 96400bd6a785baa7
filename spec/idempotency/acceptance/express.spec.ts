import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import compression from 'compression';
import cors from 'cors';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import multer from 'multer';
import { idempotency } from '../../../lib';
import { send, type WireRequest, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { multipart } from '../../support/multipart';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** Facts that other libraries have broken: middlewares and parsers around idempotency() work as they do without it. */

// Neither has types of its own here.
const load = createRequire(__filename);
const onHeaders = load('on-headers') as (res: ServerResponse, listener: (this: Response) => void) => void;
const onFinished = load('on-finished') as {
  (res: ServerResponse, listener: (error: Error | null, res: Response) => void): void;
  isFinished(res: ServerResponse): boolean;
};

/** A way to read a body, two bodies that differ, and what is made of the first. */
interface Reader {
  readonly how: string;
  readonly make: (express: (typeof expressVersions)[number][1]) => RequestHandler;
  readonly requests: readonly [WireRequest, WireRequest];
  readonly found: unknown;
}

const typed = (type: string, ...[one, other]: [string | Buffer, string | Buffer]): [WireRequest, WireRequest] => [
  { headers: { 'Content-Type': type }, body: one },
  { headers: { 'Content-Type': type }, body: other },
];
const form = (...values: string[]): WireRequest =>
  multipart(
    [...values.map(value => ({ name: 'a', value })), { name: 'f', filename: 'f.txt', value: values.join() }],
    'b1',
  );
/** A reader that is no parser of Express. */
const reading =
  (read: (req: Request) => Promise<string>): (() => RequestHandler) =>
  () =>
  (req, _res, next) => {
    void read(req).then(text => next(void Object.assign(req, { body: text })), next);
  };
const long = JSON.stringify(['ü'.repeat(700_000)]);

const readers: Reader[] = [
  {
    how: 'express.json',
    make: express => express.json(),
    requests: typed('application/json', '{"a":[1.5,"é"]}', '{"a":[2,"é"]}'),
    found: { body: { a: [1.5, 'é'] } },
  },
  {
    how: 'express.json of what is on disk meanwhile',
    make: express => express.json({ limit: '5mb' }),
    requests: typed('application/json', long, '[]'),
    found: { body: JSON.parse(long) as unknown },
  },
  {
    how: 'express.urlencoded',
    make: express => express.urlencoded({ extended: true }),
    requests: typed('application/x-www-form-urlencoded', 'a[b]=1&c=+%C3%BC', 'a[b]=2&c=+2'),
    found: { body: { a: { b: '1' }, c: ' ü' } },
  },
  {
    how: 'express.text',
    make: express => express.text(),
    requests: typed('text/plain', 'grün', 'blau'),
    found: { body: 'grün' },
  },
  {
    how: 'express.raw',
    make: express => express.raw(),
    requests: typed('application/octet-stream', Buffer.from([0, 255]), Buffer.from([0, 254])),
    found: { body: { type: 'Buffer', data: [0, 255] } },
  },
  {
    how: 'multer().none',
    make: () => multer().none(),
    requests: [multipart([{ name: 'a', value: '1' }], 'b1'), multipart([{ name: 'a', value: '2' }], 'b1')],
    found: { body: { a: '1' } },
  },
  {
    how: 'multer().single',
    make: () => multer().single('f'),
    requests: [form('1'), form('22')],
    found: { body: { a: '1' }, file: 'f.txt of 1: 1' },
  },
  {
    how: 'multer().any',
    make: () => multer().any(),
    requests: [form('1', '2'), form('2', '1')],
    found: { body: { a: ['1', '2'] }, files: ['f.txt of 3: 1,2'] },
  },
  {
    how: 'multer().fields',
    make: () => multer().fields([{ name: 'f' }]),
    requests: [form('1'), form('22')],
    found: { body: { a: '1' }, files: ['f.txt of 1: 1'] },
  },
  {
    how: 'multer() of 2 MB',
    make: () => multer().single('f'),
    requests: [form('x'.repeat(900_000), 'y'.repeat(900_000)), form('x')],
    found: { body: { a: ['x'.repeat(900_000), 'y'.repeat(900_000)] }, file: `f.txt of 1800001: ${'x'.repeat(20)}` },
  },
  {
    how: 'a handler that streams',
    make: reading(text),
    requests: typed('text/csv', long, 'x'),
    found: { body: long },
  },
  {
    how: 'a handler that listens',
    make: reading(async req => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      await once(req, 'end');
      return Buffer.concat(chunks).toString('hex');
    }),
    requests: typed('application/vnd.of-ours', Buffer.from([0, 255, 128]), 'x'),
    found: { body: '00ff80' },
  },
  {
    how: 'a handler that calls read()',
    make: reading(async req => {
      let all = '';
      req.on('readable', () => {
        for (let chunk = req.read() as unknown; chunk !== null; chunk = req.read() as unknown) all += String(chunk);
      });
      await once(req, 'end');
      return all;
    }),
    requests: typed('text/x-ours', 'x'.repeat(200_000), 'x'),
    found: { body: 'x'.repeat(200_000) },
  },
];

const fileText = ({ originalname, size, buffer }: Express.Multer.File): string =>
  `${originalname} of ${size}: ${buffer.toString().slice(0, 20)}`;

/** Answers with what was made of the body. */
const tell: RequestHandler = ({ body, file, files }, res) =>
  void res.json({
    body: body as unknown,
    file: file && fileText(file),
    files: files && (Array.isArray(files) ? files : Object.values(files).flat()).map(fileText),
  });

describe.each(expressVersions)('%s', (_version, express) => {
  it.each(readers.flatMap(reader => (['before', 'after'] as const).map(position => ({ ...reader, position }))))(
    'with $how $position idempotency(): the handler gets its body, and runs once',
    async ({ make, position, requests, found }) => {
      let runs = 0;
      const handler: RequestHandler = (req, res, next) => {
        runs++;
        return tell(req, res, next);
      };
      const [guard, reader] = [idempotency(), make(express)];
      const { url } = await serve(
        express().post('/', ...(position === 'before' ? [reader, guard] : [guard, reader]), handler),
      );
      const ask = ({ headers = {}, body }: WireRequest): Promise<WireResponse> =>
        send(url, { headers: { 'Idempotency-Key': 'k', ...headers }, body });
      const first = await ask(requests[0]);
      expect(JSON.parse(first.text)).toEqual(found);
      expect(visibleReplay(await ask(requests[0]))).toEqual(visible(first));
      expect([(await ask(requests[1])).headers['idempotent-replayed'], runs]).toEqual([undefined, 2]);
    },
  );

  it.each<[string, WireRequest]>([
    ['no body', {}],
    ['a Content-Length of 0', { headers: { 'Content-Length': '0', 'Content-Type': 'application/json' } }],
    [
      'an empty chunked body',
      { headers: { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' }, body: '' },
    ],
    ['an announced body', { headers: { Expect: '100-continue', 'Content-Type': 'application/json' }, body: '{}' }],
  ])('a request with %s gets through, and is replayed', async (_title, { headers = {}, body }) => {
    const handler: RequestHandler = (req, res) => void res.json(req.body ?? {});
    const { url } = await serve(express().post('/', idempotency(), express.json(), handler));
    const ask = () => send(url, { headers: { 'Idempotency-Key': 'k', ...headers }, body });
    expect([(await ask()).text, (await ask()).headers['idempotent-replayed']]).toEqual(['{}', 'true']);
  });

  const at = '/shop/:id/orders';
  const merging = () => express.Router({ mergeParams: true });
  it.each<[string, (app: Express, guard: RequestHandler, ...handlers: RequestHandler[]) => unknown]>([
    ['for the application', (app, guard, ...handlers) => app.use(guard).post(at, ...handlers)],
    ['for a path', (app, guard, ...handlers) => app.use('/shop', guard).post(at, ...handlers)],
    ['for a route', (app, guard, ...handlers) => app.post(at, guard, ...handlers)],
    ['in an array', (app, guard, ...handlers) => app.post(at, [guard, ...handlers])],
    [
      'by route()',
      (app, guard, ...handlers) =>
        app
          .route(at)
          .all(guard)
          .post(...handlers),
    ],
    [
      'in nested routers',
      (app, guard, ...handlers) =>
        app.use(
          '/shop',
          express.Router().use(
            '/:id',
            merging()
              .use(guard)
              .post('/orders', ...handlers),
          ),
        ),
    ],
    [
      'before a router',
      (app, guard, ...handlers) => app.use('/shop/:id', guard, merging().post('/orders', ...handlers)),
    ],
    [
      'in a mounted application',
      (app, guard, ...handlers) => app.use('/shop', express().post('/:id/orders', guard, ...handlers)),
    ],
    [
      'for the application and for the route',
      (app, guard, ...handlers) => app.use(guard).post(at, idempotency(), guard, ...handlers),
    ],
  ])('mounted %s, it guards the handler, once, and leaves it its body', async (_where, mount) => {
    let runs = 0;
    const app = express();
    mount(app, idempotency(), express.json(), (req, res) => {
      runs++;
      res.json({ id: req.params['id'], url: req.originalUrl, body: req.body as unknown });
    });
    const { url } = await serve(app);
    const ask = (id: number): Promise<WireResponse> =>
      send(`${url}/shop/${id}/orders?a=1`, {
        headers: keyed('k', { 'Content-Type': 'application/json' }),
        body: '[7]',
      });
    const first = await ask(7);
    expect(JSON.parse(first.text)).toEqual({ id: '7', url: '/shop/7/orders?a=1', body: [7] });
    expect(visibleReplay(await ask(7))).toEqual(visible(first));
    expect((await ask(8)).headers['idempotent-replayed']).toBeUndefined();
    expect(runs).toBe(2);
  });

  const onError: ErrorRequestHandler = (error: Error & { status: number }, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(error.status).json({ error: error.message });
  };
  const TEXT = 'Lorem ipsum, grün. '.repeat(500);
  const answers: [how: string, handler: RequestHandler][] = [
    ['json', (_req, res) => void res.status(201).json({ TEXT })],
    [
      'writes',
      (_req, res) => {
        res.type('html').write(TEXT);
        res.end('end');
      },
    ],
    [
      'a head of its own',
      (_req, res) => {
        res.writeHead(202, 'Taken', { 'Content-Type': 'text/plain', 'Set-Cookie': ['a=1', 'b=2'] });
        res.end(TEXT);
      },
    ],
    ['an error', (_req, _res, next) => next(Object.assign(new Error('no'), { status: 409, expose: true }))],
    ['nothing', (_req, res) => void res.sendStatus(204)],
    ['a redirect', (_req, res) => res.redirect('/elsewhere')],
  ];
  const around: [what: string, make: () => RequestHandler[]][] = [
    ['compression (gzip)', () => [compression({ threshold: 0 })]],
    [
      'helmet',
      () => [helmet({ contentSecurityPolicy: { directives: { 'script-src': ["'self'"] } }, xPoweredBy: false })],
    ],
    [
      'cors',
      () => [
        cors({ origin: ['https://shop.example'], credentials: true, exposedHeaders: ['ETag', 'Idempotent-Replayed'] }),
      ],
    ],
    [
      'express-session',
      () => [
        session({
          secret: 's',
          resave: true,
          saveUninitialized: true,
          rolling: true,
          genid: () => 'the-one',
          cookie: { maxAge: undefined },
        }),
      ],
    ],
    [
      'on-headers',
      () => [
        (_req, res, next) => {
          onHeaders(res, function () {
            this.setHeader('X-Status', String(this.statusCode));
            this.removeHeader('ETag');
          });
          next();
        },
      ],
    ],
    [
      'all of them',
      () => [
        helmet(),
        cors(),
        session({ secret: 's', resave: false, saveUninitialized: true, genid: () => 'the-one' }),
        compression(),
      ],
    ],
  ];

  it.each(
    around.flatMap(([what, make]) =>
      ['before', 'after'].flatMap(position =>
        answers.map(([how, handler]) => ({ what, make, position, how, handler })),
      ),
    ),
  )(
    '$what $position idempotency() does to $how, and to its replay, what it does without idempotency()',
    async ({ make, position, handler }) => {
      const middlewares = make();
      const guard = idempotency({ addHeaderToResponse: false });
      const app = express().set('env', 'test').disable('x-powered-by');
      app.post('/bare', ...middlewares, (req, res, next) => handler(req, res, next));
      app.post('/', ...(position === 'before' ? [...middlewares, guard] : [guard, ...middlewares]), (req, res, next) =>
        handler(req, res, next),
      );
      app.use(onError);
      const { url } = await serve(app);
      const ask = (path: string): Promise<WireResponse> =>
        send(url + path, { headers: keyed('k', { 'Accept-Encoding': 'gzip', Origin: 'https://shop.example' }) });
      // In which order middlewares add their lines is theirs.
      const seen = ({ lines, ...rest }: ReturnType<typeof visible>) => ({ ...rest, lines: [...lines].sort() });
      const bare = seen(visible(await ask('/bare')));
      expect(seen(visible(await ask('/')))).toEqual(bare);
      expect(seen(visibleReplay(await ask('/')))).toEqual(bare);
    },
  );

  it('compression before idempotency() packs each replay as its own client asks', async () => {
    const { url } = await serve(
      express().post('/', compression(), idempotency(), (_req, res) => void res.type('text').send(TEXT)),
    );
    const ask = (coding: string): Promise<WireResponse> =>
      send(url, { headers: keyed('k', { 'Accept-Encoding': coding }) });
    const answers = [await ask('gzip'), await ask('br'), await ask('identity')];
    expect(answers.map(({ headers }) => [headers['content-encoding'], headers['idempotent-replayed']])).toEqual([
      ['gzip', undefined],
      ['br', 'true'],
      [undefined, 'true'],
    ]);
    const [gzip, br, plain] = answers.map(({ body }) => body) as [Buffer, Buffer, Buffer];
    expect([gunzipSync(gzip), brotliDecompressSync(br), plain].map(String)).toEqual([TEXT, TEXT, TEXT]);
  });

  it.each(['before', 'after'])(
    'morgan %s idempotency() logs what was sent, once for each request that it sees',
    async position => {
      const logged: string[] = [];
      const logger = morgan(':method :url :status :res[content-length] :res[x-a]', {
        stream: {
          write: line => {
            logged.push(line.trim());
          },
        },
      });
      const handler: RequestHandler = (_req, res) => {
        res.status(202).set('X-A', 'a').send('seven b');
        res.statusCode = 500;
      };
      const { url } = await serve(
        express().post('/', ...(position === 'before' ? [logger, idempotency()] : [idempotency(), logger]), handler),
      );
      await send(url, { headers: keyed('k') });
      await send(url, { headers: keyed('k') });
      expect(logged).toEqual(Array.from({ length: position === 'before' ? 2 : 1 }, () => 'POST / 202 7 a'));
    },
  );

  it.each(['before', 'after'])(
    'on-finished %s idempotency() is told when the response has been sent, and not before',
    async position => {
      const told: unknown[] = [];
      const listener: RequestHandler = (_req, res, next) => {
        onFinished(res, (error, finished) => {
          told.push([error, finished.statusCode, finished.headersSent, finished.writableFinished]);
        });
        told.push(onFinished.isFinished(res));
        next();
      };
      const { url } = await serve(
        express().post(
          '/',
          ...(position === 'before' ? [listener, idempotency()] : [idempotency(), listener]),
          (_req, res) => {
            res.status(201).write('a');
            told.push(onFinished.isFinished(res));
            res.end('b');
            told.push('ended');
          },
        ),
      );
      await send(url, { headers: keyed('k') });
      while (told.length < 4) await new Promise(setImmediate);
      expect(told).toEqual([false, false, 'ended', [null, 201, true, true]]);
    },
  );

  it.each(['before', 'after'])(
    'a session of express-session %s idempotency() is saved before the client has its answer, and each caller has their own',
    async position => {
      const saved: string[] = [];
      class SlowStore extends session.MemoryStore {
        override set(id: string, data: session.SessionData, done?: (error?: unknown) => void): void {
          setTimeout(() => {
            super.set(id, data, error => {
              saved.push(id);
              done?.(error);
            });
          }, 30);
        }
      }
      const sessions = session({ secret: 's', resave: false, saveUninitialized: false, store: new SlowStore() });
      const app = express().use((req, _res, next) => {
        Object.assign(req, { user: { id: req.get('X-Who') } });
        next();
      });
      app.post('/', ...(position === 'before' ? [sessions, idempotency()] : [idempotency(), sessions]), (req, res) => {
        const own = (req as Request & { session: { orders?: number } }).session;
        own.orders = (own.orders ?? 0) + 1;
        res.json({ orders: own.orders });
      });
      const { url } = await serve(app);
      const ask = (who: string, key: string, cookie = ''): Promise<WireResponse> =>
        send(url, { headers: keyed(key, { 'X-Who': who, Cookie: cookie }) });
      const [ann, bob] = [await ask('ann', 'k'), await ask('bob', 'k')];
      expect(saved).toHaveLength(2);
      const [annsCookie = '', bobsCookie = ''] = [ann, bob].map(
        ({ headers }) => headers['set-cookie']?.[0]?.split(';', 1)[0],
      );
      expect(new Set([annsCookie, bobsCookie]).size).toBe(2);
      expect((await ask('ann', 'k2', annsCookie)).text).toBe('{"orders":2}');
      expect((await ask('ann', 'k2', annsCookie)).text).toBe('{"orders":2}');
      expect((await ask('bob', 'k3', bobsCookie)).text).toBe('{"orders":2}');
      expect((await ask('ann', 'k3', annsCookie)).text).toBe('{"orders":3}');
    },
  );
});
