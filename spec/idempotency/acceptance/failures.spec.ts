import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import compression from 'compression';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** What has broken in other libraries, and must hold when a handler fails, a client goes, or a response stops half-way. */

const CUT_OFF = /aborted|cut off|socket hang up|ECONNRESET/;
const teapot = Object.assign(new Error('no coffee'), { status: 418 });

describe.each(expressVersions)('%s', (version, express) => {
  const failures: [how: string, fail: RequestHandler][] = [
    [
      'throws',
      () => {
        throw teapot;
      },
    ],
    ['calls next(err)', (_req, _res, next) => next(teapot)],
    [
      'calls next(err) later',
      (_req, _res, next) => {
        setImmediate(() => next(teapot));
      },
    ],
    // On Express 4 nobody hears of a rejection: the row that follows, and `processes.spec.ts`.
    ...(version === 'Express 5' ? [['rejects', () => Promise.reject(teapot)] as [string, RequestHandler]] : []),
  ];
  const answers: [who: string, onError: ErrorRequestHandler[]][] = [
    ['Express', []],
    [
      'an error handler',
      [
        (error: Error, _req, res, next) => {
          if (res.headersSent) next(error);
          else res.status(500).json({ sorry: error.message });
        },
      ],
    ],
  ];

  it.each(failures.flatMap(([how, fail]) => answers.map(([who, onError]) => ({ how, fail, who, onError }))))(
    'a handler $how and $who answers: a retry gets that answer, or runs again where failures are not to be kept',
    async ({ fail, onError }) => {
      let runs = 0;
      const handler: RequestHandler = (req, res, next) => {
        if (runs++ === 0) return fail(req, res, next);
        res.send('well');
      };
      const app = express()
        .set('env', 'test')
        .post('/kept', idempotency(), handler)
        .post('/not-kept', idempotency({ shouldCache: ({ status }) => status < 400 }), handler)
        .use(...onError, (_req: Request, res: Response) => void res.status(404).end());
      const { url } = await serve(app);
      const failed = visible(await send(`${url}/kept`, { headers: keyed('k') }));
      expect(failed.status).toBe(onError.length > 0 ? 500 : 418);
      expect(visibleReplay(await send(`${url}/kept`, { headers: keyed('k') }))).toEqual(failed);
      expect(runs).toBe(1);

      runs = 0;
      expect((await send(`${url}/not-kept`, { headers: keyed('k') })).status).toBe(failed.status);
      expect((await send(`${url}/not-kept`, { headers: keyed('k') })).text).toBe('well');
      expect(runs).toBe(2);
    },
  );

  it('the client is gone before the handler runs: nothing happens, and the retry is a first request', async () => {
    const asked = signal();
    const closed = signal();
    const answer = signal();
    const leases = new HookedLeases({
      acquire: () => {
        asked.happens();
        return answer.happened;
      },
    });
    let runs = 0;
    const app = express().post(
      '/',
      (_req, res, next) => {
        res.once('close', closed.happens);
        next();
      },
      idempotency({ leases }),
      (_req, res) => void res.json({ run: ++runs }),
    );
    const { url } = await serve(app);
    const lost = begin(url);
    await asked.happened;
    lost.destroy();
    await closed.happened;
    answer.happens();
    const retry = await send(url, { headers: keyed('k') });
    expect([retry.text, retry.headers['idempotent-replayed']]).toEqual(['{"run":1}', undefined]);
    expect(visibleReplay(await send(url, { headers: keyed('k') })).body).toBe('{"run":1}');
  });

  const around: [where: string, middlewares: RequestHandler[]][] = [
    ['', []],
    [', behind compression', [compression()]],
    [', behind express-session', [session({ secret: 's', resave: true, saveUninitialized: true, genid: () => 'one' })]],
  ];
  const source = (): Readable => Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(100_000, 'x')));
  const working: [how: string, answer: (req: Request, res: Response) => unknown, body: string][] = [
    ['json', (_req, res) => res.status(201).json({ order: 7 }), '{"order":7}'],
    ['204', (_req, res) => res.sendStatus(204), ''],
    [
      'a head that it has flushed, and end',
      (_req, res) => {
        res.flushHeaders();
        setTimeout(() => res.end('flushed'), 20);
      },
      'flushed',
    ],
    ['five megabytes by a pipe', (_req, res) => source().pipe(res), 'x'.repeat(5_000_000)],
    ['five megabytes by a pipeline', (_req, res) => pipeline(source(), res), 'x'.repeat(5_000_000)],
    [
      'writes that wait for drain',
      async (_req, res) => {
        for (let piece = 0; piece < 20; piece++) if (!res.write('y'.repeat(100_000))) await once(res, 'drain');
        res.end();
      },
      'y'.repeat(2_000_000),
    ],
    [
      'writes that are waited for, under a Content-Length',
      (_req, res) => res.set('Content-Length', '8').write('one ', () => res.write('two', () => res.end('!'))),
      'one two!',
    ],
    ['a file', (_req, res) => res.sendFile(__filename), readFileSync(__filename, 'utf8')],
    ['an error', (_req, res) => res.status(502).send('upstream'), 'upstream'],
  ];

  it.each(
    around.flatMap(([where, middlewares]) =>
      working.map(([how, answer, body]) => ({ where, middlewares, how, answer, body })),
    ),
  )(
    'the client is gone while the handler runs, which answers with $how$where: the response is stored, and the retry replays it',
    async ({ middlewares, answer, body }) => {
      const log = new EventLog();
      const [started, gone] = [signal(), signal()];
      let runs = 0;
      const app = express().post('/', ...middlewares, idempotency({ onEvent: log.onEvent }), async (req, res) => {
        runs++;
        res.socket?.once('close', gone.happens);
        started.happens();
        await gone.happened;
        // To a pipeline, a client that leaves is a failure.
        await Promise.resolve(answer(req, res)).catch(() => undefined);
      });
      const { url } = await serve(app);
      const lost = begin(url);
      await started.happened;
      lost.destroy();
      expect((await log.first('executed')).key).toBe('k');
      const retry = await send(url, { headers: keyed('k') });
      expect(retry.headers['idempotent-replayed']).toBe('true');
      // As a whole, so that a failure does not print megabytes.
      expect(retry.text === body).toBe(true);
      expect(runs).toBe(1);
    },
  );

  it('the client is gone after the handler has ended, before the response is stored: the retry replays it', async () => {
    const writing = signal();
    const stored = signal();
    class HeldMap extends Map<string, unknown> {
      override set(key: string, value: unknown): this {
        writing.happens();
        return stored.happened.then(() => super.set(key, value)) as unknown as this;
      }
    }
    let runs = 0;
    const { url, server } = await serve(
      express().post(
        '/',
        idempotency({ store: new Keyv(new HeldMap()) }),
        (_req, res) => void res.json({ run: ++runs }),
      ),
    );
    const connected = once(server, 'connection') as Promise<[NodeJS.EventEmitter]>;
    const lost = begin(url);
    const [socket] = await connected;
    await writing.happened;
    const ended = once(socket, 'end');
    lost.destroy();
    await ended;
    stored.happens();
    const retry = await send(url, { headers: keyed('k') });
    expect([retry.text, retry.headers['idempotent-replayed']]).toEqual(['{"run":1}', 'true']);
  });

  const halves: [how: string, runsAgain: boolean, cut: (req: Request, res: Response) => unknown][] = [
    [
      'destroys it between two writes',
      true,
      (_req, res) => {
        res.write('one');
        setImmediate(() => {
          res.write('two');
          res.destroy(new Error('enough'));
        });
      },
    ],
    ['destroys it before it has written', true, (_req, res) => res.destroy()],
    [
      'destroys it at the end of its Content-Length, without an end',
      true,
      (_req, res) => {
        res.set('Content-Length', '4').write('half');
        res.destroy();
      },
    ],
    [
      'throws after writeHead',
      false,
      (_req, res) => {
        res.writeHead(200);
        throw teapot;
      },
    ],
    [
      'throws at the end of its Content-Length, without an end',
      false,
      (_req, res) => {
        res.set('Content-Length', '4').write('half');
        throw teapot;
      },
    ],
    [
      'closes the connection with an error after a flush',
      false,
      (req, res) => {
        res.flushHeaders();
        req.socket.destroy(new Error('no more'));
      },
    ],
    [
      'pipes a source that breaks',
      true,
      (_req, res) => void pipeline(Readable.from(breaking()), res).catch(() => undefined),
    ],
    [
      'throws in the middle',
      false,
      (_req, res) => {
        res.type('text').write('half');
        throw teapot;
      },
    ],
    [
      'calls next(err) in the middle',
      false,
      (req, res) => {
        res.type('text').write('half');
        req.next?.(teapot);
      },
    ],
    [
      'ends it under its Content-Length',
      true,
      (_req, res) => void res.writeHead(200, { 'Content-Length': 100 }).end('short'),
    ],
    [
      'closes the connection',
      false,
      (req, res) => {
        res.write('half');
        req.socket.destroy();
      },
    ],
  ];

  it.each(halves)('a response is not stored as complete when its handler %s', async (_how, runsAgain, cut) => {
    const log = new EventLog();
    let runs = 0;
    const guard = idempotency({ leaseDuration: 100, onEvent: log.onEvent });
    const app = express().set('env', 'test');
    app.post('/', guard, (req, res) => void (runs++ === 0 ? cut(req, res) : res.send('whole')));
    const { url } = await serve(app);
    await expect(send(url, { headers: keyed('k') })).rejects.toThrow(CUT_OFF);
    const { text } = await send(url, { headers: keyed('k') });
    expect(text).toContain(runsAgain ? 'whole' : 'response-unavailable');
    expect([runs, log.kinds[0]]).toEqual([runsAgain ? 2 : 1, 'not-stored']);
  });

  const afters: [what: string, after: (res: Response, req: Request) => unknown][] = [
    [
      'throws',
      () => {
        throw teapot;
      },
    ],
    ['sends a second json', res => res.status(500).json({ second: true })],
    ['sends a second response with another type', res => res.type('text').send('second')],
    ['redirects', res => res.redirect('/elsewhere')],
    [
      'writes and ends',
      res => {
        res.write('more');
        res.end('more');
      },
    ],
    ['sets a header', res => res.set('X-Late', '1')],
    ['writes a head', res => res.writeHead(500)],
    [
      'changes status and reason',
      res => {
        res.statusCode = 500;
        res.statusMessage = 'Late';
      },
    ],
    ['destroys the response', res => res.destroy()],
    ['destroys the request', (_res, req) => req.destroy()],
    ['destroys the socket', (_res, req) => req.socket.destroy()],
    ['adds trailers', res => res.addTrailers({ 'X-Late': '1' })],
    ['calls next()', (_res, req) => req.next?.()],
    ['calls next(err)', (_res, req) => req.next?.(teapot)],
  ];
  const ends: [how: string, end: (res: Response) => unknown][] = [
    ['json', res => res.status(201).json({ first: true })],
    [
      'write and end',
      res => {
        res.status(201).type('text').write('first ');
        res.end('end');
      },
    ],
    ['204', res => res.sendStatus(204)],
  ];

  it.each(
    afters.flatMap(([what, after]) =>
      ends.flatMap(([how, end]) =>
        around.map(([where, middlewares]) => ({ what, after, how, end, where, middlewares })),
      ),
    ),
  )(
    'a handler has ended its response by $how$where and $what: neither what is sent nor what is stored is changed',
    async ({ after, end, middlewares }) => {
      const app = express().set('env', 'test');
      app.post('/bare', ...middlewares, (_req, res) => void end(res));
      app.post('/', ...middlewares, idempotency({ addHeaderToResponse: false }), (req, res) => {
        res.on('error', () => undefined);
        end(res);
        return after(res, req);
      });
      const { url } = await serve(app);
      const first = visible(await send(url, { headers: keyed('k') }));
      expect(first).toEqual(visible(await send(`${url}/bare`)));
      expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual(first);
    },
  );
});

async function* breaking(): AsyncGenerator<string> {
  yield 'half';
  await pause(5);
  throw new Error('broken');
}

/** A request whose client is going to leave. */
function begin(url: string, headers: Readonly<Record<string, string>> = {}): ClientRequest {
  const sent = request(url, {
    method: 'POST',
    headers: keyed('k', { 'Content-Type': 'text/plain', ...headers }),
    agent: false,
  }).on('error', () => undefined);
  if (headers['Content-Length'] === undefined) sent.end();
  return sent;
}
