import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';
import { heldLeases } from '../../support/hooked-leases';
import { closing, RawClient, requestTo } from '../../support/raw-client';
import { signal } from '../../support/signal';

/** What must hold when a connection ends at a bad moment: the response is there for a retry, and nothing stays open. */

const LEASE = 300;

/** Resolves when the server has learned that the connection ends. */
const ending = (socket: Socket): Promise<unknown> =>
  new Promise(resolve => {
    for (const event of ['end', 'error', 'close']) socket.once(event, resolve);
  });

/** The other end of the next connection. */
const accepted = async (server: Server): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];

const around: RequestHandler[] = [
  compression(),
  session({ secret: 's', resave: true, saveUninitialized: true, genid: () => 'one' }),
];
const source = (): Readable => Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(100_000, 'x')));

/** `replays.spec.ts` has random ones. */
const working: [how: string, answer: (res: Response) => unknown, body: string][] = [
  ['json', res => res.status(201).json({ order: 7 }), '{"order":7}'],
  ['five megabytes by a pipe', res => source().pipe(res), 'x'.repeat(5_000_000)],
  // To a pipeline, a client that leaves is a failure.
  ['five megabytes by a pipeline', res => pipeline(source(), res).catch(() => 0), 'x'.repeat(5_000_000)],
  ['an error', res => res.status(502).send('upstream'), 'upstream'],
];

describe.each(expressVersions)('%s', (_version, version) => {
  it('the client is gone before the handler runs: nothing happens, and the retry is a first request', async () => {
    const { leases, asked, goOn } = heldLeases('acquire');
    const closed = signal();
    const tellsClose: RequestHandler = (_req, res, next) => next(void res.once('close', closed.happens));
    const { port, post } = await guarded({ leases }, undefined, { version, before: [tellsClose] });
    const client = RawClient.asks(port);
    await asked;
    client.leave();
    await closed.happened;
    goOn();
    expect([seen(await post()), seen(await post())]).toEqual(['{"run":1}', '{"run":1} again']);
  });

  it.each(working)(
    'the client is gone while the handler runs, which answers with %s, alone or behind other middlewares: the response is stored, and the retry replays it',
    async (_how, answer, body) => {
      for (const before of [[], around]) {
        const act = async ({ socket }: Request, res: Response): Promise<void> => {
          const gone = closing(socket);
          client.leave();
          await gone;
          await answer(res);
        };
        const { port, post, log, runs } = await guarded({}, act, { version, before });
        const client = RawClient.asks(port);
        expect((await log.first('executed')).key).toBe('k');
        const { headers, text } = await post();
        // As a whole, so that a failure does not print megabytes.
        expect([headers['idempotent-replayed'], text === body, runs()]).toEqual(['true', true, 1]);
      }
    },
  );

  it.each([[[]], [around]])(
    'the client is gone between two writes under a Content-Length: stored, and heard of once',
    async before => {
      let finished = 0;
      const act = async ({ socket }: Request, res: Response): Promise<void> => {
        const gone = closing(socket);
        res.on('finish', () => finished++);
        res.set('Content-Length', '8').write('one ');
        setImmediate(() => client.leave());
        await gone;
        res.write('two!');
        res.end();
      };
      const { port, post, log, runs } = await guarded({}, act, { version, before });
      const client = RawClient.asks(port);
      await log.first('executed');
      expect([seen(await post()), runs(), finished]).toEqual(['one two! again', 1, 1]);
    },
  );

  it.each<[how: string, leave: (client: Socket) => unknown]>([
    ['closes its connection', client => client.destroy()],
    ['resets it', client => client.resetAndDestroy()],
    ['says that it sends nothing more', client => client.end()],
  ])(
    'a client that %s while the end of its response is held back: stored, `finish` and `close` told, closed',
    async (_how, leave) => {
      const { leases, asked, goOn } = heldLeases('complete');
      const closed = signal();
      const told: string[] = [];
      const act = (_req: Request, res: Response): void => {
        res.once('finish', () => told.push('finish'));
        res.once('close', () => closed.happens(void told.push('close')));
        res.end('done', () => told.push('callback'));
      };
      const { port, server, post, log, runs } = await guarded({ leases }, act, { version });
      const { socket: client } = RawClient.asks(port);
      const socket = await accepted(server);
      await asked;
      leave(client);
      await (client.destroyed ? once(client, 'close') : ending(socket));
      // The server reads the end of the connection in its next turns.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      goOn();
      await log.first('executed');
      await closed.happened;
      expect(told).toEqual(['finish', 'callback', 'close']);
      if (!socket.closed) await once(socket, 'close');
      const open = new Promise(resolve => server.getConnections((_error, count) => resolve(count)));
      expect([await open, seen(await post()), runs()]).toEqual([0, 'done again', 1]);
    },
  );

  it.each<[how: string, close: (server: Server, client: RawClient) => unknown]>([
    ['by its time-out', () => undefined],
    ['by closeAllConnections()', server => server.closeAllConnections()],
    ['by a 400 to garbage', (_server, client) => client.send('no request\r\n\r\n')],
  ])(
    'the server closes the connection %s, before a handler writes or while it streams: what it writes is stored, and it runs once',
    async (how, close) => {
      for (const first of ['', 'first, ']) {
        const [begun, gone] = [signal(), signal()];
        const act = async (_req: Request, res: Response): Promise<void> => {
          if (first) res.write(first);
          begun.happens();
          await gone.happened;
          res.write('second, ');
          res.end('last');
        };
        const { port, server, post, runs } = await guarded({ waitTimeout: 60_000 }, act, { version });
        if (how.includes('time-out')) server.setTimeout(50);
        const client = RawClient.asks(port);
        const socket = await accepted(server);
        server.setTimeout(0);
        await begun.happened;
        void close(server, client);
        await ending(socket);
        gone.happens();
        expect([seen(await post()), runs()]).toEqual([`${first}second, last again`, 1]);
      }
    },
  );

  it('a client leaves while its response waits for its turn on the connection: it is written to its end, and replayed', async () => {
    const [running, gone] = [signal(), signal()];
    const wasDestroyed: boolean[] = [];
    const act = async (req: Request, res: Response): Promise<void> => {
      // Node destroys the response in a later tick, and emits another `close`.
      req.socket.once('close', () => setImmediate(() => setImmediate(gone.happens)));
      running.happens();
      await gone.happened;
      wasDestroyed.push(res.destroyed);
      pipeline(Readable.from(['a', 'b']), res).catch(() => undefined);
    };
    const slow: RequestHandler = (req, _res, next) => {
      if (req.path !== '/slow') next();
    };
    const { port, post } = await guarded({}, act, { version, before: [slow] });
    const client = RawClient.asks(port, '/slow');
    await client.send(requestTo(port));
    await running.happened;
    client.leave();
    expect([seen(await post()), wasDestroyed]).toEqual(['ab again', [false]]);
  });

  describe('a handler whose client has left', () => {
    /** Serves a handler, which makes its client leave, and notes what `res` emits; then one request is sent. */
    const served = async (
      options: IdempotencyOptions,
      handler: (res: Response, leave: () => Promise<unknown>, req: Request) => unknown,
    ) => {
      const events: string[] = [];
      const closed = signal();
      const act = (req: Request, res: Response): unknown => {
        const gone = closing(req.socket);
        res.on('finish', () => events.push('finish')).on('close', () => closed.happens(void events.push('close')));
        return handler(res, () => (client.socket.resetAndDestroy(), gone), req);
      };
      const one = await guarded({ leaseDuration: LEASE, whenInFlight: 'reject', ...options }, act, { version });
      const client = RawClient.asks(one.port);
      return { ...one, events, closed: closed.happened };
    };

    it('goes on: res emits no close until its response is stored', async () => {
      const state: unknown[] = [];
      const { post, events, closed } = await served({ leaseDuration: 30_000 }, async (res, leave) => {
        res.write('first, ');
        await leave();
        state.push([...events], res.destroyed, res.socket);
        Readable.from(['second, ', 'last']).pipe(res);
      });
      await closed;
      expect([state, events]).toEqual([
        [[], false, null],
        ['finish', 'close'],
      ]);
      expect(seen(await post())).toBe('first, second, last again');
    }, 60_000);

    it.each<[string, IdempotencyOptions, (res: Response) => unknown]>([
      ['leaseDuration after it has written last', {}, res => res.write('half')],
      ['cacheDuration after the departure if it has written nothing', { cacheDuration: 2 * LEASE }, () => undefined],
    ])(
      'and that never ends has run, %s: there is no response, and nothing runs again',
      async (_when, options, begin) => {
        let left = 0;
        const { post, log, events, closed, runs } = await served(options, (res, leave) => {
          begin(res);
          left = performance.now();
          void leave();
        });
        await log.first('not-stored');
        expect(performance.now() - left).toBeGreaterThan((options.cacheDuration ?? LEASE) - 20);
        await closed;
        const lost = expect.stringContaining('urn:bindonce:response-unavailable') as string;
        expect([events, seen(await post()), runs()]).toEqual([['close'], lost, 1]);
      },
    );

    it('and that goes on writing is over leaseDuration after it has stopped', async () => {
      const { log } = await served({}, (res, leave) => {
        res.write('0');
        void leave();
        let count = 0;
        const beat = setInterval(() => {
          res.write(String(++count));
          if (count === 20) clearInterval(beat);
        }, LEASE / 10);
      });
      expect((await log.first('not-stored')).durationMs).toBeGreaterThan(2 * LEASE);
    }, 60_000);

    it.each(['before', 'after'])('and that calls forget() %s that is told at once, as without us', async when => {
      const { events, closed } = await served({ leaseDuration: 30_000 }, async (_res, leave, req) => {
        if (when === 'before') req.idempotency.forget();
        await leave();
        if (when === 'after') req.idempotency.forget();
      });
      await closed;
      expect(events).toEqual(['close']);
    });
  });
});
