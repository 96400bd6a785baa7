import { once } from 'node:events';
import { connect } from 'node:net';
import compression from 'compression';
import cors from 'cors';
import type { RequestHandler, Response } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import { Keyv } from 'keyv';
import morgan from 'morgan';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { RawClient } from '../../support/raw-client';
import { serve } from '../../support/serve';
import { signal, type Signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

const LONG = 'abc '.repeat(2_000);

const handlers: [title: string, handler: RequestHandler][] = [
  [
    'json',
    (_req, res) => {
      res.json({ LONG });
    },
  ],
  [
    'short json',
    (_req, res) => {
      res.json({ short: true });
    },
  ],
  [
    'write and end',
    (_req, res) => {
      res.type('text').write(LONG);
      res.end('end');
    },
  ],
  [
    'a file',
    (_req, res) => {
      res.sendFile('responses.ts', { root: __dirname });
    },
  ],
  [
    '204',
    (_req, res) => {
      res.status(204).end();
    },
  ],
];

const middlewares: [title: string, make: () => RequestHandler][] = [
  ['compression', () => compression()],
  ['helmet', () => helmet()],
  ['cors', () => cors({ origin: true, credentials: true, exposedHeaders: ['X-A'] })],
  ['express-session', () => session({ secret: 's', resave: false, saveUninitialized: true, genid: () => 'always' })],
];

const rows = middlewares.flatMap(([middleware, make]) =>
  ['before', 'after'].flatMap(position =>
    handlers.map(([title, handler]) => ({ middleware, make, position, title, handler })),
  ),
);

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
  [
    'json',
    'end',
    (_req, res) => {
      res.json({ a: 'b' });
    },
  ],
  [
    'end with text',
    'end',
    (_req, res) => {
      res.end('text');
    },
  ],
  [
    'an empty end',
    'end',
    (_req, res) => {
      res.end();
    },
  ],
  [
    '204',
    'end',
    (_req, res) => {
      res.status(204).end();
    },
  ],
  [
    '204 by send',
    'end',
    (_req, res) => {
      res.status(204).send();
    },
  ],
  [
    'a redirect',
    'end',
    (_req, res) => {
      res.redirect(303, '/there');
    },
  ],
  [
    'json to HEAD',
    'end',
    (_req, res) => {
      res.json({ a: 'b' });
    },
    'HEAD',
  ],
  [
    'a redirect to HEAD',
    'end',
    (_req, res) => {
      res.redirect(303, '/there');
    },
    'HEAD',
  ],
  [
    'write and end',
    'write',
    (_req, res) => {
      res.write('one');
      res.end('two');
    },
  ],
  [
    'writeHead and end',
    'writeHead',
    (_req, res) => {
      res.writeHead(201, { 'X-A': 'a' }).end('text');
    },
  ],
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

describe.each(expressVersions)('on %s', (_version, express) => {
  it.each(rows)(
    '$title behind $middleware mounted $position us is what it would be without us, and its replay too',
    async ({ make, position, handler }) => {
      let runs = 0;
      const counted: RequestHandler = (req, res, next) => {
        runs++;
        return handler(req, res, next);
      };
      const guard = idempotency({ addHeaderToResponse: false });
      const middleware = make();
      const app = express()
        .post('/bare', middleware, handler)
        .post('/guarded', ...(position === 'before' ? [middleware, guard] : [guard, middleware]), counted);
      const { url } = await serve(app);
      const get = (path: string): Promise<WireResponse> =>
        send(url + path, { headers: keyed('k', { 'Accept-Encoding': 'gzip', Origin: 'https://shop.example' }) });

      const bare = await get('/bare');
      const first = await get('/guarded');
      const replay = await get('/guarded');

      expect(visible({ ...first, lines: [...first.lines].sort() })).toEqual(
        visible({ ...bare, lines: [...bare.lines].sort() }),
      );
      const { lines, ...rest } = visibleReplay(replay);
      expect({ ...rest, lines: [...lines].sort() }).toEqual(visible({ ...first, lines: [...first.lines].sort() }));
      expect(runs).toBe(1);
    },
  );

  it.each(['before', 'after'])('morgan mounted %s us logs the true status and length', async position => {
    const logged: string[] = [];
    const stream = {
      write: (line: string) => {
        logged.push(line.trim());
      },
    };
    const logger = morgan(':method :status :res[content-length] :res[idempotent-replayed]', { stream });
    const app = express().post(
      '/',
      ...(position === 'before' ? [logger, idempotency()] : [idempotency(), logger]),
      (_req, res) => {
        res.status(201).json({ a: 1 });
      },
    );
    const { url } = await serve(app);
    await send(url, { headers: keyed('k') });
    await send(url, { headers: keyed('k') });
    await send(url, {});
    expect(logged).toEqual(
      position === 'before'
        ? ['POST 201 7 -', 'POST 201 7 true', expect.stringMatching(/^POST 400 \d+ -$/)]
        : ['POST 201 7 -'],
    );
  });

  it.each(['before', 'after'])('listeners mounted %s us see a finished response', async position => {
    const seen: unknown[] = [];
    const listener: RequestHandler = (_req, res, next) => {
      const tell = (event: string): void => {
        seen.push([
          event,
          res.statusCode,
          res.headersSent,
          res.writableEnded,
          res.writableFinished,
          Number(res.getHeader('content-length')),
        ]);
      };
      res
        .once('finish', () => {
          tell('finish');
        })
        .once('close', () => {
          tell('close');
        });
      next();
    };
    const app = express().post(
      '/',
      ...(position === 'before' ? [listener, idempotency()] : [idempotency(), listener]),
      (_req, res) => {
        res.status(201).json({ a: 1 });
      },
    );
    const { url, server } = await serve(app);
    const closed = once(server, 'connection').then(([socket]) => once(socket as NodeJS.EventEmitter, 'close'));
    await send(url, { headers: keyed('k') });
    await closed;
    expect(seen).toEqual([
      ['finish', 201, true, true, true, 7],
      ['close', 201, true, true, true, 7],
    ]);
  });

  it('a session that the handler changes is there in the next request', async () => {
    const app = express()
      .use(session({ secret: 's', resave: false, saveUninitialized: false }))
      .post('/', idempotency({ scope: () => undefined }), (req, res) => {
        const { session } = req as { session?: { count?: number } };
        if (session) session.count = (session.count ?? 0) + 1;
        res.json({ count: session?.count });
      });
    const { url } = await serve(app);
    const first = await send(url, { headers: keyed('1') });
    const Cookie = first.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
    const second = await send(url, { headers: keyed('2', { Cookie }) });
    const replay = await send(url, { headers: keyed('2', { Cookie }) });
    expect([first.text, second.text, replay.text]).toEqual(['{"count":1}', '{"count":2}', '{"count":2}']);
  });

  it('requests that follow each other on one connection do not disturb each other', async () => {
    const { port } = await serve(
      express().post('/', idempotency(), (req, res) => {
        res.send(req.get('Idempotency-Key'));
      }),
    );
    const keys = Array.from({ length: 30 }, (_, index) => `k${index % 15}`);
    // It ends when the server closes the connection, as the last request asks.
    expect(await pipelined(port, keys)).toEqual(keys);
  });
});

/** Sends all requests at once on one connection, and reads their answers. */
async function pipelined(port: number, keys: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  keys.forEach((key, index) => {
    socket.write(
      `POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n${index === keys.length - 1 ? 'Connection: close\r\n' : ''}\r\n`,
    );
  });
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return [...text.matchAll(/\r\n\r\n(k\d+?)(?=HTTP|$)/g)].map(match => match[1] ?? '');
}

describe.each(expressVersions)('callbacks on %s behind', (_version, express) => {
  it.each([
    ['compression', () => compression()],
    ['express-session', () => session({ secret: 's', resave: false, saveUninitialized: true })],
  ])('%s, which pass two arguments on, are called as without idempotency()', async (_middleware, make) => {
    const called: string[] = [];
    const { url } = await serve(
      express().post('/', make() as RequestHandler, idempotency(), (_req, res) => {
        res.type('png').write('a', () => {
          called.push('write');
          res.end('b', () => called.push('end'));
        });
      }),
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
      .post('/', idempotency(), (_req, res) => {
        res.json({ a: 1 });
      });
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
      .post('/large', (_req, res) => {
        res.send('x'.repeat(8_000_000));
      })
      .post('/', (_req, res) => {
        res.json({ a: 1 });
      });
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
      .post('/', idempotency({ store: new Keyv() }), (_req, res) => {
        res.json({ a: 1 });
      });
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(POST);
    await client.closed();
    expect(client.text).toBe('');
  });
});
