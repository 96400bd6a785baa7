import compression from 'compression';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

const LONG = 'grün '.repeat(300);
const ends: [title: string, end: (res: Response) => void][] = [
  [
    'json',
    res => {
      res.status(201).json({ LONG });
    },
  ],
  [
    'write and end',
    res => {
      res.status(201).type('text').write(LONG);
      res.end(LONG);
    },
  ],
];

type Act = [title: string, act: (req: Request, res: Response, next: (error: unknown) => void) => void];

const failure = new Error('too late');
const acts: Act[] = [
  [
    'throws',
    () => {
      throw failure;
    },
  ],
  [
    'calls next(error)',
    (_req, _res, next) => {
      next(failure);
    },
  ],
  [
    'sends another json',
    (_req, res) => {
      res.status(500).json({ other: true });
    },
  ],
  [
    'redirects',
    (_req, res) => {
      res.redirect('/elsewhere');
    },
  ],
  [
    'writes another head',
    (_req, res) => {
      res.writeHead(500);
    },
  ],
  [
    'writes more',
    (_req, res) => {
      res.on('error', () => undefined).write('more');
    },
  ],
  [
    'ends again',
    (_req, res) => {
      res.end();
    },
  ],
  [
    'ends again with more',
    (_req, res) => {
      res.on('error', () => undefined).end('more');
    },
  ],
  [
    'sets the status',
    (_req, res) => {
      res.status(500);
    },
  ],
  [
    'sets the reason phrase',
    (_req, res) => {
      res.statusMessage = 'No';
    },
  ],
  [
    'destroys the response',
    (_req, res) => {
      res.destroy();
    },
  ],
  [
    'destroys the socket',
    req => {
      req.socket.destroy();
    },
  ],
  [
    'adds trailers',
    (_req, res) => {
      res.addTrailers({ 'X-Late': '1' });
    },
  ],
];

const before: [title: string, middleware: RequestHandler][] = [
  [
    'nothing',
    (_req, _res, next) => {
      next();
    },
  ],
  ['compression', compression()],
  ['express-session', session({ secret: 's', resave: true, saveUninitialized: true, genid: () => 'always' })],
];
const rows = ends.flatMap(([by, end]) =>
  before.flatMap(([mounted, middleware]) => acts.map(([does, act]) => ({ by, end, mounted, middleware, does, act }))),
);

describe.each(expressVersions)('after the end on %s', (_version, express) => {
  it.each(rows)(
    'by $by, behind $mounted, a handler that $does changes neither what is sent nor what is stored',
    async ({ end, middleware, act }) => {
      const handler: RequestHandler = (req, res, next) => {
        end(res);
        if (req.path === '/disturbed') act(req, res, next);
      };
      const app = express()
        .set('env', 'test')
        .use(middleware)
        .post('/:kind', idempotency({ addHeaderToResponse: false }), handler);
      const { url } = await serve(app);
      const get = (path: string): Promise<WireResponse> =>
        send(url + path, { headers: keyed('k', { 'Accept-Encoding': 'gzip' }) });

      const undisturbed = await get('/undisturbed');
      const first = await get('/disturbed');
      const second = await get('/disturbed');

      expect(visible(first)).toEqual(visible(undisturbed));
      expect(visibleReplay(second)).toEqual(visible(first));
    },
    60_000,
  );
});

describe.each(expressVersions)('while the end is held back on %s', (_version, express) => {
  it.each(ends)('the handler sees a head that is sent after %s, and the client sees no end', async (_title, end) => {
    const completing = signal();
    const mayComplete = signal();
    const leases = new HookedLeases({
      complete: () => {
        completing.happens();
        return mayComplete.happened;
      },
    });
    const seen: unknown[] = [];
    const app = express().post('/', idempotency({ leases }), (_req, res) => {
      end(res);
      seen.push(res.headersSent);
      expect(() => res.setHeader('X-Late', '1')).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }));
      expect(() => res.json({})).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }));
      res.on('finish', () => seen.push('finish'));
    });
    const { url } = await serve(app);
    let answered = false;
    const answer = send(url, { headers: keyed('k') }).finally(() => {
      answered = true;
    });

    await completing.happened;
    expect(seen).toEqual([true]);
    expect(answered).toBe(false);
    mayComplete.happens();
    expect((await answer).status).toBe(201);
    expect(seen).toEqual([true, 'finish']);
  });

  it.each<[string, (res: Response) => void]>([
    [
      'writeHead',
      res => {
        res.writeHead(200);
      },
    ],
    [
      'flushHeaders',
      res => {
        res.flushHeaders();
      },
    ],
    [
      'write',
      res => {
        res.write('x');
      },
    ],
  ])('headersSent is true at once after %s, and writableEnded is not', async (_title, begin) => {
    const seen: boolean[] = [];
    const app = express().post('/', idempotency(), (_req, res) => {
      begin(res);
      seen.push(res.headersSent, res.writableEnded);
      res.end();
    });
    await send((await serve(app)).url, { headers: keyed('k') });
    expect(seen).toEqual([true, false]);
  });
});

describe.each(expressVersions)('on %s, what node refuses is the error that it is without us:', (_version, express) => {
  it.each<[string, (res: Response) => unknown]>([
    ['a status that is none', res => res.writeHead(99).end()],
    ['a reason phrase of two lines', res => res.writeHead(200, 'a\nb').end()],
    [
      'a reason phrase of two lines by statusMessage',
      res => {
        res.statusMessage = 'a\nb';
        res.end();
      },
    ],
    ['a header of two lines', res => res.writeHead(200, { 'X-A': 'a\nb' }).end()],
    ['a header name of two words', res => res.writeHead(200, { 'X A': 'a' }).end()],
    ['a header that is undefined', res => res.writeHead(200, { 'X-A': undefined }).end()],
    ['a header that is undefined, under an error status', res => res.writeHead(404, { 'X-A': undefined }).end()],
    ['a chunk that is none', res => res.write(1 as never)],
    ['an end that is none', res => res.end({} as never)],
  ])(
    '%s',
    async (_title, act) => {
      const codes: unknown[] = [];
      const handler: RequestHandler = (_req, res) => {
        act(res);
      };
      const onError: ErrorRequestHandler = (error: NodeJS.ErrnoException, _req, _res, next) => {
        codes.push(error.code);
        next(error);
      };
      const app = express()
        .set('env', 'test')
        .post('/bare', handler)
        .post('/guarded', idempotency({ addHeaderToResponse: false }), handler)
        .use(onError);
      const { url } = await serve(app);
      const [bare, first, replay] = [
        await send(`${url}/bare`),
        await send(`${url}/guarded`, { headers: keyed('k') }),
        await send(`${url}/guarded`, { headers: keyed('k') }),
      ];
      expect([first.status, first.reason]).toEqual([bare.status, bare.reason]);
      expect(visibleReplay(replay)).toEqual(visible(first));
      expect(codes[1]).toBe(codes[0]);
      expect(codes).toHaveLength(2);
    },
    60_000,
  );
});

describe('callbacks', () => {
  const [, express] = expressVersions[0] ?? [];

  it.each<[string, (res: Response) => void]>([
    ['of unknown length', () => undefined],
    [
      'that reaches the Content-Length',
      res => {
        res.set('Content-Length', '5');
      },
    ],
    [
      'that has no content',
      res => {
        res.status(204);
      },
    ],
  ])(
    'a handler may wait for the callback of a write %s before it ends',
    async (_title, prepare) => {
      const app = express?.().post('/', idempotency(), (_req, res) => {
        prepare(res);
        res.write('hello', () => {
          res.end();
        });
      });
      if (app) expect((await send((await serve(app)).url, { headers: keyed('k') })).status).toBeGreaterThan(199);
    },
    60_000,
  );

  it('of end are called after the response has left', async () => {
    const called = signal();
    const app = express?.().post('/', idempotency(), (_req, res) => {
      res.end('x', () => {
        called.happens();
      });
    });
    if (app) expect((await send((await serve(app)).url, { headers: keyed('k') })).text).toBe('x');
    await called.happened;
  });
});
