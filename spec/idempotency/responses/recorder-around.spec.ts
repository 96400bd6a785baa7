import { once } from 'node:events';
import { connect } from 'node:net';
import compression from 'compression';
import cors from 'cors';
import type { RequestHandler } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../servers/listen';
import { expressVersions } from '../express-versions';
import { serve } from '../serve';
import { keyed, visible, visibleReplay } from '../wire';

const LONG = 'abc '.repeat(2_000);

const handlers: [title: string, handler: RequestHandler][] = [
  ['json', (_req, res) => { res.json({ LONG }); }],
  ['short json', (_req, res) => { res.json({ short: true }); }],
  ['write and end', (_req, res) => { res.type('text').write(LONG); res.end('end'); }],
  ['a file', (_req, res) => { res.sendFile('responses.ts', { root: __dirname }); }],
  ['204', (_req, res) => { res.status(204).end(); }],
];

const middlewares: [title: string, make: () => RequestHandler][] = [
  ['compression', () => compression()],
  ['helmet', () => helmet()],
  ['cors', () => cors({ origin: true, credentials: true, exposedHeaders: ['X-A'] })],
  ['express-session', () => session({ secret: 's', resave: false, saveUninitialized: true, genid: () => 'always' })],
];

const rows = middlewares.flatMap(([middleware, make]) => ['before', 'after'].flatMap(position => handlers.map(([title, handler]) => ({ middleware, make, position, title, handler }))));

describe.each(expressVersions)('on %s', (_version, express) => {
  it.each(rows)('$title behind $middleware mounted $position us is what it would be without us, and its replay too', async ({ make, position, handler }) => {
    let runs = 0;
    const counted: RequestHandler = (req, res, next) => { runs++; return handler(req, res, next); };
    const guard = idempotency({ addHeaderToResponse: false });
    const middleware = make();
    const app = express().post('/bare', middleware, handler).post('/guarded', ...position === 'before' ? [middleware, guard] : [guard, middleware], counted);
    const { url } = await serve(app);
    const get = (path: string): Promise<WireResponse> => send(url + path, { headers: keyed('k', { 'Accept-Encoding': 'gzip', Origin: 'https://shop.example' }) });

    const bare = await get('/bare');
    const first = await get('/guarded');
    const replay = await get('/guarded');

    expect(visible({ ...first, lines: [...first.lines].sort() })).toEqual(visible({ ...bare, lines: [...bare.lines].sort() }));
    const { lines, ...rest } = visibleReplay(replay);
    expect({ ...rest, lines: [...lines].sort() }).toEqual(visible({ ...first, lines: [...first.lines].sort() }));
    expect(runs).toBe(1);
  });

  it.each(['before', 'after'])('morgan mounted %s us logs the true status and length', async position => {
    const logged: string[] = [];
    const stream = { write: (line: string) => { logged.push(line.trim()); } };
    const logger = morgan(':method :status :res[content-length] :res[idempotent-replayed]', { stream });
    const app = express().post('/', ...position === 'before' ? [logger, idempotency()] : [idempotency(), logger], (_req, res) => { res.status(201).json({ a: 1 }); });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k') });
    await send(url, { headers: keyed('k') });
    await send(url, {});
    expect(logged).toEqual(position === 'before' ? ['POST 201 7 -', 'POST 201 7 true', expect.stringMatching(/^POST 400 \d+ -$/)] : ['POST 201 7 -']);
  });

  it.each(['before', 'after'])('listeners mounted %s us see a finished response', async position => {
    const seen: unknown[] = [];
    const listener: RequestHandler = (_req, res, next) => {
      const tell = (event: string): void => { seen.push([event, res.statusCode, res.headersSent, res.writableEnded, res.writableFinished, Number(res.getHeader('content-length'))]); };
      res.once('finish', () => { tell('finish'); }).once('close', () => { tell('close'); });
      next();
    };
    const app = express().post('/', ...position === 'before' ? [listener, idempotency()] : [idempotency(), listener], (_req, res) => { res.status(201).json({ a: 1 }); });
    const { url, server } = await serve(app);
    const closed = once(server, 'connection').then(([socket]) => once(socket as NodeJS.EventEmitter, 'close'));
    await send(url, { headers: keyed('k') });
    await closed;
    expect(seen).toEqual([['finish', 201, true, true, true, 7], ['close', 201, true, true, true, 7]]);
  });

  it('a session that the handler changes is there in the next request', async () => {
    const app = express().use(session({ secret: 's', resave: false, saveUninitialized: false })).post('/', idempotency({ scope: () => undefined }), (req, res) => {
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
    const { port, server } = await serve(express().post('/', idempotency(), (req, res) => { res.send(req.get('Idempotency-Key')); }));
    const connected = once(server, 'connection');
    const keys = Array.from({ length: 30 }, (_, index) => `k${index % 15}`);
    expect(await pipelined(port, keys)).toEqual(keys);
    const [socket] = await connected as [object];
    expect(Object.hasOwn(socket, 'destroy')).toBe(false);
  });
});

/** Sends all requests at once on one connection, and reads their answers. */
async function pipelined(port: number, keys: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  keys.forEach((key, index) => {
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n${index === keys.length - 1 ? 'Connection: close\r\n' : ''}\r\n`);
  });
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return [...text.matchAll(/\r\n\r\n(k\d+?)(?=HTTP|$)/g)].map(match => match[1] ?? '');
}
