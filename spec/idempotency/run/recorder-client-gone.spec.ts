import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import session from 'express-session';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const LONG = 'x'.repeat(3_000_000);

/** What a handler does before the client goes and after. */
type Work = readonly [
  title: string,
  before: (res: Response) => unknown,
  after: (res: Response) => unknown,
  body: string,
];

const chunks = (): Readable => Readable.from(Array.from({ length: 30 }, () => LONG.slice(0, 100_000)));

const work: Work[] = [
  ['answers with json', () => undefined, res => res.json({ done: true }), '{"done":true}'],
  ['answers with 204', () => undefined, res => res.status(204).end(), ''],
  [
    'goes on writing',
    res => res.write('first, '),
    res => {
      res.write('second, ');
      res.end('last');
    },
    'first, second, last',
  ],
  [
    'goes on writing under a Content-Length',
    res => res.set('Content-Length', '19').write('first, '),
    res => {
      res.write('second, ');
      res.end('last');
    },
    'first, second, last',
  ],
  [
    'waits for each write',
    res => res.write('first, '),
    res => res.write('second, ', () => res.end('last')),
    'first, second, last',
  ],
  [
    'pipes a stream before',
    res => {
      chunks().pipe(res);
    },
    () => undefined,
    LONG,
  ],
  [
    'pipes a stream after',
    () => undefined,
    res => {
      chunks().pipe(res);
    },
    LONG,
  ],
  [
    'runs a pipeline before',
    res => {
      void pipeline(chunks(), res).catch(() => undefined);
    },
    () => undefined,
    LONG,
  ],
  [
    'runs a pipeline after',
    () => undefined,
    res => {
      void pipeline(chunks(), res).catch(() => undefined);
    },
    LONG,
  ],
  [
    'sends a file after',
    () => undefined,
    res => {
      res.sendFile('recorder-client-gone.spec.ts', { root: __dirname });
    },
    'Something that happens once',
  ],
  [
    'throws after',
    () => undefined,
    () => {
      throw new Error('no luck');
    },
    'Error: no luck',
  ],
];

const around: [title: string, middlewares: RequestHandler[]][] = [
  ['', []],
  [' behind compression', [compression()]],
  [' behind express-session', [session({ secret: 's', resave: true, saveUninitialized: true })]],
];

const rows = around.flatMap(([where, middlewares]) =>
  work.map(([title, before, after, body]) => ({ where, middlewares, title, before, after, body })),
);

describe.each(expressVersions)('when the client goes while the handler runs on %s', (_version, express) => {
  it.each(rows)(
    'a handler that $title$where runs to its end, and a retry gets its response',
    async ({ middlewares, before, after, body }) => {
      const log = new EventLog();
      const begun = signal();
      const gone = signal();
      let runs = 0;
      const handler: RequestHandler = (_req, res, next) => {
        runs++;
        res.socket?.once('close', () => {
          gone.happens();
        });
        before(res);
        begun.happens();
        void gone.happened.then(() => after(res)).catch(next);
      };
      const { url } = await serve(
        express()
          .set('env', 'test')
          .post('/', ...middlewares, idempotency({ onEvent: log.onEvent, waitTimeout: 60_000 }), handler),
      );

      const hangUp = request(url, {
        method: 'POST',
        headers: keyed('k', { 'Accept-Encoding': 'gzip' }),
        agent: false,
      }).on('error', () => undefined);
      hangUp.end();
      await begun.happened;
      hangUp.destroy();
      await gone.happened;
      await log.first('executed');
      const retry = await send(url, { headers: keyed('k') });

      expect(retry.headers['idempotent-replayed']).toBe('true');
      expect(retry.text.includes(body)).toBe(true);
      expect(runs).toBe(1);
    },
    60_000,
  );
});

describe.each(expressVersions)('on %s, when the client goes', (_version, express) => {
  const post = (url: string, headers: Record<string, string>, body = ''): { hangUp(): Promise<unknown> } => {
    const sent = request(url, { method: 'POST', headers, agent: false }).on('error', () => undefined);
    sent.end(body);
    return {
      hangUp: () =>
        new Promise(resolve => {
          sent.once('close', resolve).destroy();
        }),
    };
  };

  it('after the handler has run, while the end is held back, the response is stored and its listeners are told', async () => {
    const log = new EventLog();
    const completing = signal();
    const mayComplete = signal();
    const closed = signal();
    const leases = new HookedLeases({
      complete: () => {
        completing.happens();
        return mayComplete.happened;
      },
    });
    let runs = 0;
    const app = express().post('/', idempotency({ leases, onEvent: log.onEvent }), (_req, res) => {
      res.once('close', () => {
        closed.happens();
      });
      res.json({ run: ++runs });
    });
    const { url } = await serve(app);
    const client = post(url, keyed('k'));
    await completing.happened;
    await client.hangUp();
    mayComplete.happens();
    await log.first('executed');
    await closed.happened;
    expect((await send(url, { headers: keyed('k') })).text).toBe('{"run":1}');
    expect(runs).toBe(1);
  });

  it('before the handler runs, once the request is complete, a retry gets the response of that request', async () => {
    const acquiring = signal();
    const gone = signal();
    const leases = new HookedLeases({
      acquire: () => {
        acquiring.happens();
        return gone.happened;
      },
    });
    let runs = 0;
    const app = express()
      .use((req, _res, next) => {
        req.socket.once('close', () => {
          gone.happens();
        });
        next();
      })
      .post('/', idempotency({ leases, waitTimeout: 60_000 }), express.json(), (req, res) => {
        runs++;
        res.status(req.body ? 201 : 400).json({ got: req.body as unknown });
      });
    const { url } = await serve(app);
    const headers = keyed('k', { 'Content-Type': 'application/json' });
    const client = post(url, headers, '{"a":1}');
    await acquiring.happened;
    await client.hangUp();
    await gone.happened;
    const retry = await send(url, { headers, body: '{"a":1}' });
    expect([retry.status, retry.text, runs]).toEqual([201, '{"got":{"a":1}}', 1]);
  }, 60_000);

  it.each<[string, RequestHandler]>([
    [
      'answers',
      (_req, res) => {
        res.send('done');
      },
    ],
    [
      'pipes a stream',
      (_req, res) => {
        Readable.from(['do', 'ne']).pipe(res);
      },
    ],
    [
      'runs a pipeline',
      (_req, res, next) => {
        pipeline(Readable.from(['do', 'ne']), res).catch(next);
      },
    ],
  ])(
    'before the handler runs, and the handler %s, it has run once and a retry gets its response',
    async (_title, handler) => {
      const acquiring = signal();
      const gone = signal();
      const leases = new HookedLeases({
        acquire: () => {
          acquiring.happens();
          return gone.happened;
        },
      });
      let runs = 0;
      const app = express()
        .use((req, _res, next) => {
          req.socket.once('close', () => {
            gone.happens();
          });
          next();
        })
        .post('/', idempotency({ leases, waitTimeout: 60_000 }), (req, res, next) => {
          runs++;
          return handler(req, res, next);
        });
      const { url } = await serve(app);
      const client = post(url, keyed('k'));
      await acquiring.happened;
      await client.hangUp();
      await gone.happened;
      const retry = await send(url, { headers: keyed('k') });
      expect([retry.status, retry.text, runs]).toEqual([200, 'done', 1]);
    },
    60_000,
  );

  it('before the request is complete, nothing runs, and a retry does', async () => {
    const gone = signal();
    const bodies: unknown[] = [];
    const app = express()
      .use((req, _res, next) => {
        req.once('close', () => {
          gone.happens();
        });
        next();
      })
      .post('/', idempotency(), express.text(), (req, res) => {
        bodies.push(req.body);
        res.send('done');
      });
    const { url } = await serve(app);
    const headers = keyed('k', { 'Content-Type': 'text/plain' });
    const sent = request(url, { method: 'POST', headers: { ...headers, 'Content-Length': '10' }, agent: false }).on(
      'error',
      () => undefined,
    );
    sent.write('half', () => sent.destroy());
    await gone.happened;
    expect((await send(url, { headers, body: 'half+half.' })).text).toBe('done');
    expect(bodies).toEqual(['half+half.']);
  });

  it('while it waits for another, neither that other nor the store is disturbed', async () => {
    const log = new EventLog();
    const running = signal();
    const mayEnd = signal();
    const arrived = signal();
    const gone = signal();
    let runs = 0;
    const app = express()
      .use((req, _res, next) => {
        if (!req.get('X-Goes')) return next();
        req.socket.once('close', () => {
          gone.happens();
        });
        next();
        setImmediate(() => {
          arrived.happens();
        });
      })
      .post('/', idempotency({ onEvent: log.onEvent }), (_req, res) => {
        runs++;
        running.happens();
        void mayEnd.happened.then(() => res.send('done'));
      });
    const { url } = await serve(app);
    const first = send(url, { headers: keyed('k') });
    await running.happened;
    const waiter = post(url, keyed('k', { 'X-Goes': '1' }));
    await arrived.happened;
    await waiter.hangUp();
    await gone.happened;
    mayEnd.happens();
    expect((await first).text).toBe('done');
    expect((await send(url, { headers: keyed('k') })).text).toBe('done');
    expect(runs).toBe(1);
  });
});
