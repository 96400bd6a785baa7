import { once } from 'node:events';
import compression from 'compression';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import session from 'express-session';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { RawClient } from '../../support/raw-client';
import { serve } from '../../support/serve';
import { signal, type Signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** What writes the head of a response: what a middleware may still do in `end` depends on it. */
type HeadBy = 'end' | 'write' | 'writeHead';
type Method = (...args: unknown[]) => Response;

/** Middlewares that put their own methods before those of `res`, and the responses that they are made for. */
const wrappers: [title: string, wrap: (res: Response) => void, fits: readonly HeadBy[]][] = [
  [
    'sets a header in writeHead',
    res => {
      const writeHead = res.writeHead.bind(res) as Method;
      res.writeHead = (...args: unknown[]) => {
        res.setHeader('X-Took', '1');
        return writeHead(...args);
      };
    },
    ['end', 'write', 'writeHead'],
  ],
  [
    'gives writeHead one header more',
    res => {
      const writeHead = res.writeHead.bind(res) as Method;
      res.writeHead = ((status: number, headers: object) =>
        writeHead(status, { ...headers, 'X-Took': '1' })) as Response['writeHead'];
    },
    ['end', 'write', 'writeHead'],
  ],
  ...(['at once', 'later'] as const).map((when): (typeof wrappers)[number] => [
    `writes ${when} in end what it is given`,
    res => {
      const end = res.end.bind(res) as Method;
      res.end = ((chunk: unknown) => {
        const pass = (): Response => {
          if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) res.write(chunk);
          return end();
        };
        if (when === 'at once') return pass();
        setImmediate(pass);
        return res;
      }) as Response['end'];
    },
    ['write', 'writeHead'],
  ]),
];

const answers: [title: string, headBy: HeadBy, handler: RequestHandler, method?: string][] = [
  ['json', 'end', (_req, res) => void res.json({ a: 'b' })],
  ['end with text', 'end', (_req, res) => void res.end('text')],
  ['an empty end', 'end', (_req, res) => void res.end()],
  ['204', 'end', (_req, res) => void res.status(204).end()],
  ['204 by send', 'end', (_req, res) => void res.status(204).send()],
  ['a redirect', 'end', (_req, res) => res.redirect(303, '/there')],
  ['json to HEAD', 'end', (_req, res) => void res.json({ a: 'b' }), 'HEAD'],
  ['a redirect to HEAD', 'end', (_req, res) => res.redirect(303, '/there'), 'HEAD'],
  [
    'write and end',
    'write',
    (_req, res) => {
      res.write('one');
      res.end('two');
    },
  ],
  ['writeHead and end', 'writeHead', (_req, res) => void res.writeHead(201, { 'X-A': 'a' }).end('text')],
];

const wrapped = wrappers.flatMap(([wrapper, wrap, fits]) =>
  ['before', 'after'].flatMap(position =>
    answers
      .filter(([, headBy]) => fits.includes(headBy))
      .map(([title, , handler, method = 'POST']) => ({ wrapper, wrap, position, title, handler, method })),
  ),
);

const sorted = (response: WireResponse): WireResponse => ({ ...response, lines: [...response.lines].sort() });

describe.each(expressVersions)('on %s', (_version, express) => {
  it.each(wrapped)(
    '$title behind a middleware mounted $position us that $wrapper is what it would be without us, and its replay too',
    async ({ wrap, position, handler, method }) => {
      let runs = 0;
      const counted: RequestHandler = (req, res, next) => {
        runs++;
        return handler(req, res, next);
      };
      const middleware: RequestHandler = (_req, res, next) => {
        wrap(res);
        next();
      };
      const guard = idempotency({ addHeaderToResponse: false });
      const app = express()
        .all('/bare', middleware, handler)
        .all('/guarded', ...(position === 'before' ? [middleware, guard] : [guard, middleware]), counted);
      const { url } = await serve(app);
      const ask = (path: string): Promise<WireResponse> => send(url + path, { method, headers: keyed('k') });

      const bare = await ask('/bare');
      const first = await ask('/guarded');
      const replay = await ask('/guarded');

      expect(visible(sorted(first))).toEqual(visible(sorted(bare)));
      expect(visibleReplay(sorted(replay))).toEqual(visible(sorted(first)));
      expect(runs).toBe(1);
    },
    60_000,
  );
});

describe.each(expressVersions)('callbacks on %s behind', (_version, express) => {
  it.each([
    ['compression', () => compression()],
    ['express-session', () => session({ secret: 's', resave: false, saveUninitialized: true })],
  ])('%s, which pass two arguments on, are called as without idempotency()', async (_middleware, make) => {
    const called: string[] = [];
    const { url } = await serve(
      express().post(
        '/',
        make() as RequestHandler,
        idempotency(),
        (_req, res) =>
          void res.type('png').write('a', () => {
            called.push('write');
            res.end('b', () => called.push('end'));
          }),
      ),
    );
    expect((await send(url, { headers: keyed('k'), body: '' })).text).toBe('ab');
    expect(called).toEqual(['write', 'end']);
  });
});

/** Ends a response only when the spec says so, as a session does once it is saved. */
function slowEnd(ending: Signal, mayEnd: Signal): RequestHandler {
  return (_req, res, next) => {
    const end = res.end.bind(res) as Method;
    let isEnding = false;
    res.end = (...args: unknown[]) => {
      if (!isEnding) void mayEnd.happened.then(() => end(...args));
      isEnding = true;
      ending.happens();
      return res;
    };
    next();
  };
}

const POST = 'POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n';

describe.each(expressVersions)('behind an earlier middleware with an end of its own, on %s,', (_version, express) => {
  it('a second end() of the handler changes nothing while the first is under way', async () => {
    const [ending, mayEnd] = [signal(), signal()];
    const app = express().post('/', slowEnd(ending, mayEnd), idempotency(), (_req, res) => {
      res.json({ a: 1 });
      void ending.happened.then(() => {
        res.end();
        mayEnd.happens();
      });
    });
    const { url } = await serve(app);
    const [first, replay] = [await send(url, { headers: keyed('k') }), await send(url, { headers: keyed('k') })];
    expect([first.text, replay.text, replay.headers['idempotent-replayed']]).toEqual(['{"a":1}', '{"a":1}', 'true']);
  });

  it.each<[string, (res: Response) => unknown, [number, string]]>([
    ['no content', res => res.status(204).end(), [204, '']],
    ['content', res => res.json({ a: 1 }), [200, '{"a":1}']],
  ])('which calls res.end() itself later, a response with %s is sent', async (_what, answer, sent) => {
    const app = express()
      .use((_req, res, next) => {
        const end = res.end.bind(res) as Method;
        let isWithin = false;
        res.end = (...args: unknown[]) => {
          if (isWithin) return end(...args);
          isWithin = true;
          setImmediate(() => (res.end as Method)(...args));
          return res;
        };
        next();
      })
      .post('/', idempotency(), (_req, res) => void answer(res));
    const { url } = await serve(app);
    for (let attempt = 0; attempt < 2; attempt++) {
      const { status, text } = await send(url, { headers: keyed('k') });
      expect([status, text]).toEqual(sent);
    }
  });

  it('which destroys the response after it, the connection is closed', async () => {
    const app = express()
      .use((_req, res, next) => {
        const end = res.end.bind(res) as Method;
        res.end = (...args: unknown[]) => {
          end(...args);
          return res.destroy();
        };
        next();
      })
      .post('/', idempotency(), (_req, res) => void res.json({ a: 1 }));
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(POST);
    await client.closed();
    expect(client.text).toMatch(/^HTTP\/1.1 200 OK[^]*\{"a":1\}$/);
  });

  it('which passes a pipelined response on before its turn, the connection is closed when its client has left', async () => {
    const passedOn = signal();
    const app = express()
      .post('/', (_req, res, next) => {
        const end = res.end.bind(res) as Method;
        res.end = (...args: unknown[]) => {
          passedOn.happens();
          return end(...args);
        };
        next();
      })
      .use(session({ secret: 's', resave: true, saveUninitialized: true }))
      .use(idempotency({ store: new Keyv(), scope: () => undefined }))
      .post('/large', (_req, res) => void res.send('x'.repeat(8_000_000)))
      .post('/', (_req, res) => void res.json({ a: 1 }));
    const { port, server } = await serve(app);
    const connected = once(server, 'connection') as Promise<[NodeJS.EventEmitter]>;
    const client = new RawClient(port);
    client.socket.pause();
    await client.send(POST.replace('POST /', 'POST /large').replace(': k', ': l') + POST);
    const [connection] = await connected;
    await passedOn.happened;
    client.socket.end();
    await once(connection, 'end');
    client.socket.resume();
    await once(connection, 'close');
  });

  it('which destroys the response later, the connection is closed at once', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.end = () => {
          setImmediate(() => res.destroy());
          return res;
        };
        next();
      })
      .post('/', idempotency({ store: new Keyv() }), (_req, res) => void res.json({ a: 1 }));
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(POST);
    await client.closed();
    expect(client.text).toBe('');
  });
});

const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
  if (res.headersSent) next(error);
  else res.status(500).send('the error page');
};

/** A middleware that throws when the head of a response is written, as one whose store of sessions has failed. */
function throwsOnce(): RequestHandler {
  let hasThrown = false;
  return (_req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res;
    res.writeHead = (...args: unknown[]) => {
      if (hasThrown) return writeHead(...args);
      hasThrown = true;
      throw new Error('The session could not be saved');
    };
    next();
  };
}

describe.each(expressVersions)('a head that cannot be sent, on %s,', (_version, express) => {
  /** The answers to two equal requests, the number of runs, and the events. */
  async function twice(handler: RequestHandler, before: RequestHandler[]) {
    let runs = 0;
    const log = new EventLog();
    const counted: RequestHandler = (req, res, next) => {
      runs++;
      return handler(req, res, next);
    };
    const guard = idempotency({ onEvent: log.onEvent });
    const { url } = await serve(
      express()
        .all('/', ...before, guard, counted)
        .use(onError),
    );
    const ask = async (): Promise<string> => {
      const { status, text } = await send(url, { headers: keyed('k') });
      return `${status} ${text}`;
    };
    return { answers: [await ask(), await ask()], runs, kinds: log.kinds };
  }

  it.each<[string, RequestHandler]>([
    [
      'write()',
      (_req, res) => {
        res.status(201).write('{"order":');
        res.end('1}');
      },
    ],
    [
      'writeHead() and write()',
      (_req, res) => {
        res.writeHead(201, { 'X-Order': '1' }).write('{"order":');
        res.end('1}');
      },
    ],
    [
      'flushHeaders()',
      (_req, res) => {
        res.status(201).flushHeaders();
        res.end('{"order":1}');
      },
    ],
  ])('is an error of %s in the handler, and the error page is the response that is stored', async (_call, handler) => {
    expect(await twice(handler, [throwsOnce()])).toEqual({
      answers: ['500 the error page', '500 the error page'],
      runs: 1,
      kinds: ['executed', 'replayed'],
    });
  });
});
