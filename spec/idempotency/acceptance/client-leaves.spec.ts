import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';
import session from 'express-session';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';
import { heldLeases } from '../../support/hooked-leases';
import { signal } from '../../support/signal';

/** What must hold when a connection ends at a bad moment: the response is there for a retry, and nothing stays open. */

const requestTo = (port: number, path = '/'): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`;

/** A client that sends one request, and is going to leave. */
function begin(port: number, bytes = requestTo(port)): Socket {
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.write(bytes);
  return client.resume();
}

/** Resolves when the server has learned that the connection ends. */
const ending = (socket: Socket): Promise<unknown> =>
  new Promise(resolve => {
    for (const event of ['end', 'error', 'close']) socket.once(event, resolve);
  });

/** The other end of the next connection. */
const accepted = async (server: Server): Promise<Socket> => ((await once(server, 'connection')) as [Socket])[0];

const around: [where: string, middlewares: RequestHandler[]][] = [
  ['', []],
  [
    ', behind other middlewares',
    [compression(), session({ secret: 's', resave: true, saveUninitialized: true, genid: () => 'one' })],
  ],
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
  // To a pipeline, a client that leaves is a failure.
  ['five megabytes by a pipeline', (_req, res) => pipeline(source(), res).catch(() => 0), 'x'.repeat(5_000_000)],
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

describe.each(expressVersions)('%s', (_version, version) => {
  it('the client is gone before the handler runs: nothing happens, and the retry is a first request', async () => {
    const { leases, asked, goOn } = heldLeases('acquire');
    const closed = signal();
    const tellsClose: RequestHandler = (_req, res, next) => {
      res.once('close', closed.happens);
      next();
    };
    const { port, post } = await guarded({ leases }, undefined, { version, before: [tellsClose] });
    const client = begin(port);
    await asked;
    client.destroy();
    await closed.happened;
    goOn();
    expect([seen(await post()), seen(await post())]).toEqual(['{"run":1}', '{"run":1} again']);
  });

  it.each(
    around.flatMap(([where, before]) => working.map(([how, answer, body]) => ({ where, before, how, answer, body }))),
  )(
    'the client is gone while the handler runs, which answers with $how$where: the response is stored, and the retry replays it',
    async ({ before, answer, body }) => {
      const [started, gone] = [signal(), signal()];
      const act = async (req: Request, res: Response): Promise<void> => {
        res.socket?.once('close', gone.happens);
        started.happens();
        await gone.happened;
        await answer(req, res);
      };
      const { port, post, log, runs } = await guarded({}, act, { version, before });
      const client = begin(port);
      await started.happened;
      client.destroy();
      expect((await log.first('executed')).key).toBe('k');
      const { headers, text } = await post();
      // As a whole, so that a failure does not print megabytes.
      expect([headers['idempotent-replayed'], text === body, runs()]).toEqual(['true', true, 1]);
    },
  );

  it.each(around)(
    'the client is gone between two writes under a Content-Length%s: the response is stored, and heard of once',
    async (_where, before) => {
      const [started, gone] = [signal(), signal()];
      let finished = 0;
      const act = async (_req: Request, res: Response): Promise<void> => {
        res.on('finish', () => finished++).socket?.once('close', gone.happens);
        res.set('Content-Length', '8').write('one ', () => started.happens());
        await gone.happened;
        res.write('two!');
        res.end();
      };
      const { port, post, log, runs } = await guarded({}, act, { version, before });
      const client = begin(port);
      await started.happened;
      client.destroy();
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
        res.once('close', () => {
          told.push('close');
          closed.happens();
        });
        res.end('done', () => told.push('callback'));
      };
      const { port, server, post, log, runs } = await guarded({ leases }, act, { version });
      const client = begin(port);
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

  it.each<[how: string, close: (server: Server, client: Socket) => unknown]>([
    ['by its time-out', () => undefined],
    ['by closeAllConnections()', server => server.closeAllConnections()],
    ['by a 400 to garbage', (_server, client) => client.write('no request\r\n\r\n')],
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
        const client = begin(port);
        const socket = await accepted(server);
        server.setTimeout(0);
        await begun.happened;
        close(server, client);
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
    const client = begin(port, requestTo(port, '/slow') + requestTo(port));
    await running.happened;
    client.destroy();
    expect([seen(await post()), wasDestroyed]).toEqual(['ab again', [false]]);
  });
});
