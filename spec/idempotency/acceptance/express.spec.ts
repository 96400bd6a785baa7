import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { ServerResponse } from 'node:http';
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

describe.each(expressVersions)('%s', (_version, express) => {
  const digest = (body: Buffer): string => createHash('md5').update(body).digest('hex');
  const long = Buffer.from(JSON.stringify({ text: 'ü'.repeat(700_000) }));

  /** Ways to read a body: what stands before the handler, and what the handler finds. */
  const readers: [
    how: string,
    parser: RequestHandler[],
    sent: WireRequest,
    find: (req: Request) => unknown,
    found: unknown,
  ][] = [
    [
      'express.json',
      [express.json({ limit: '5mb' })],
      { headers: { 'Content-Type': 'application/json' }, body: '{"a":[1.5,"ü"]}' },
      req => req.body,
      { a: [1.5, 'ü'] },
    ],
    [
      'express.json of what is on disk meanwhile',
      [express.json({ limit: '5mb' })],
      { headers: { 'Content-Type': 'application/json' }, body: long },
      req => (req.body as { text: string }).text.length,
      700_000,
    ],
    [
      'express.urlencoded',
      [express.urlencoded({ extended: false })],
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=1&a=%C3%BC' },
      req => req.body,
      { a: ['1', 'ü'] },
    ],
    [
      'multer',
      [multer().array('f')],
      multipart(
        [
          { name: 't', value: 'ü' },
          { name: 'f', filename: 'f.bin', value: 'bytes' },
        ],
        'x',
      ),
      req => [{ ...(req.body as object) }, (req.files as Express.Multer.File[]).map(({ buffer }) => String(buffer))],
      [{ t: 'ü' }, ['bytes']],
    ],
    [
      'for await',
      [],
      { headers: { 'Content-Type': 'text/csv' }, body: long },
      async req => {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk as Buffer);
        return digest(Buffer.concat(chunks));
      },
      digest(long),
    ],
    [
      'events',
      [],
      { headers: { 'Content-Type': 'application/octet-stream' }, body: Buffer.from([0, 255, 128]) },
      async req => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        await once(req, 'end');
        return Buffer.concat(chunks).toString('hex');
      },
      '00ff80',
    ],
    [
      'read()',
      [],
      { headers: { 'Content-Type': 'text/plain', 'Transfer-Encoding': 'chunked' }, body: 'chunked' },
      async req => {
        let text = '';
        const read = (): void => {
          for (let chunk = req.read() as Buffer | null; chunk !== null; chunk = req.read() as Buffer | null)
            text += String(chunk);
        };
        req.on('readable', read);
        await once(req, 'end');
        return text;
      },
      'chunked',
    ],
  ];

  const mounts: [where: string, mount: (app: Express, guard: RequestHandler, handlers: RequestHandler[]) => unknown][] =
    [
      ['by app.use', (app, guard, handlers) => app.use(guard).post('/shop/:id/orders', ...handlers)],
      ['on the route', (app, guard, handlers) => app.post('/shop/:id/orders', guard, ...handlers)],
      [
        'in nested routers',
        (app, guard, handlers) =>
          app.use(
            '/shop',
            express.Router().use(
              '/:id',
              express
                .Router({ mergeParams: true })
                .use(guard)
                .post('/orders', ...handlers),
            ),
          ),
      ],
      [
        'before a router',
        (app, guard, handlers) =>
          app.use('/shop/:id', guard, express.Router({ mergeParams: true }).post('/orders', ...handlers)),
      ],
    ];

  it.each(
    mounts.flatMap(([where, mount]) =>
      readers.flatMap(([how, parser, sent, find, found]) =>
        (parser.length > 0 ? ['before', 'after'] : ['after']).map(position => ({
          where,
          mount,
          how,
          parser,
          sent,
          find,
          found,
          position,
        })),
      ),
    ),
  )(
    'mounted $where, with $how $position idempotency(): the handler gets its body, and runs once',
    async ({ mount, parser, sent, find, found, position }) => {
      let runs = 0;
      const app = express();
      const handler: RequestHandler = async (req, res) => {
        runs++;
        res.json({ id: req.params['id'], found: await find(req) });
      };
      if (position === 'before') parser.forEach(one => app.use(one));
      mount(app, idempotency(), position === 'before' ? [handler] : [...parser, handler]);
      const { url } = await serve(app);
      const ask = (id: number): Promise<WireResponse> =>
        send(`${url}/shop/${id}/orders`, { ...sent, headers: keyed('k', sent.headers as Record<string, string>) });
      const first = await ask(7);
      expect(JSON.parse(first.text)).toEqual({ id: '7', found });
      expect(visibleReplay(await ask(7))).toEqual(visible(first));
      expect((await ask(8)).headers['idempotent-replayed']).toBeUndefined();
      expect(runs).toBe(2);
    },
  );

  const onError: ErrorRequestHandler = (error: Error & { status: number }, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(error.status).json({ error: error.message });
  };
  const TEXT = 'Lorem ipsum, grün. '.repeat(500);
  const answers: [how: string, handler: RequestHandler][] = [
    [
      'json',
      (_req, res) => {
        res.status(201).json({ TEXT });
      },
    ],
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
    [
      'an error',
      (_req, _res, next) => {
        next(Object.assign(new Error('no'), { status: 409, expose: true }));
      },
    ],
    [
      'nothing',
      (_req, res) => {
        res.sendStatus(204);
      },
    ],
    [
      'a redirect',
      (_req, res) => {
        res.redirect('/elsewhere');
      },
    ],
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
      express().post('/', compression(), idempotency(), (_req, res) => {
        res.type('text').send(TEXT);
      }),
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
