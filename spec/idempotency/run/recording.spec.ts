import cors from 'cors';
import express, { type Response } from 'express';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';

type Front = (res: Response, request: number) => void;

/** Behind a middleware that knows how many requests there were; the handler answers the first, the second is a replay. */
async function replayed(front: Front, handler: (res: Response) => void) {
  let requests = 0;
  const app = express()
    .disable('x-powered-by')
    .use((_req, res, next) => {
      front(res, ++requests);
      next();
    });
  app.post('/', idempotency({ addHeaderToResponse: false }), (_req, res) => handler(res));
  const { url } = await serve(app);
  const first = await send(url, { headers: keyed('k') });
  const replay = await send(url, { headers: keyed('k') });
  return { first: visible(first), replay: visibleReplay(replay) };
}

const rows: [title: string, front: Front, handler: (res: Response) => void, first: string[], replay: string[]][] = [
  [
    'a request id that the handler leaves alone is that of the request at hand',
    (res, n) => void res.set('X-Request-Id', String(n)),
    res => void res.set('X-A', 'a').end(),
    ['X-Request-Id: 1', 'X-A: a', 'Content-Length: 0'],
    ['X-Request-Id: 2', 'X-A: a', 'Content-Length: 0'],
  ],
  [
    'a header that the handler changes is what it made of it, at its place',
    (res, n) => void res.set('Vary', 'Origin').set('X-Request-Id', String(n)),
    res => void res.vary('Accept').end(),
    ['Vary: Origin, Accept', 'X-Request-Id: 1', 'Content-Length: 0'],
    ['Vary: Origin, Accept', 'X-Request-Id: 2', 'Content-Length: 0'],
  ],
  [
    'a header that the handler removes is removed',
    (res, n) => void res.set('X-Debug', String(n)).set('X-Request-Id', String(n)),
    res => {
      res.removeHeader('X-Debug');
      res.end();
    },
    ['X-Request-Id: 1', 'Content-Length: 0'],
    ['X-Request-Id: 2', 'Content-Length: 0'],
  ],
  [
    "a cookie of the session before us is the one at hand, and the handler's are added to it",
    (res, n) => void res.cookie('session', `s${n}`),
    res => void res.cookie('cart', 'c').cookie('seen', '1').end(),
    ['Set-Cookie: session=s1; Path=/', 'Set-Cookie: cart=c; Path=/', 'Set-Cookie: seen=1; Path=/', 'Content-Length: 0'],
    ['Set-Cookie: session=s2; Path=/', 'Set-Cookie: cart=c; Path=/', 'Set-Cookie: seen=1; Path=/', 'Content-Length: 0'],
  ],
  [
    'only cookies of the handler are there when the middleware sets none now',
    (res, n) => {
      if (n === 1) res.append('Set-Cookie', 'fresh=1');
    },
    res => void res.append('Set-Cookie', 'a=1').end(),
    ['Set-Cookie: fresh=1', 'Set-Cookie: a=1', 'Content-Length: 0'],
    ['Set-Cookie: a=1', 'Content-Length: 0'],
  ],
  [
    'what describes the body belongs to the body, whoever sets it',
    (res, n) => void res.set('Content-Type', `text/${n}`).set('Content-Length', String(2 * n)),
    res => void res.end('ab'),
    ['Content-Type: text/1; charset=utf-8', 'Content-Length: 2'],
    ['Content-Type: text/1; charset=utf-8', 'Content-Length: 2'],
  ],
  [
    'what describes a body is gone where the handler took it away',
    (res, n) => void res.set('Content-Encoding', `x-${n}`).set('Content-Type', 'text/plain'),
    res => {
      res.removeHeader('Content-Encoding');
      res.writeHead(200, ['X-A', 'a']).end('ab');
    },
    ['Content-Type: text/plain; charset=utf-8', 'X-A: a'],
    ['Content-Type: text/plain; charset=utf-8', 'X-A: a'],
  ],
];

describe('a replay behind a middleware that sets headers', () => {
  it.each(rows)('%s', async (_title, front, handler, lines, again) => {
    const { first, replay } = await replayed(front, handler);
    expect(first.lines).toEqual(lines);
    expect(replay).toEqual({ ...first, lines: again });
  });

  it('carries CORS headers for the origin that asks now', async () => {
    const { url } = await serve(
      express()
        .use(cors({ origin: true, credentials: true }))
        .post('/', idempotency(), (_req, res) => void res.json({})),
    );
    const from = (Origin: string): Promise<WireResponse> => send(url, { headers: keyed('k', { Origin }) });
    expect((await from('https://a.example')).headers['access-control-allow-origin']).toBe('https://a.example');
    const replay = await from('https://b.example');
    expect([replay.headers['access-control-allow-origin'], replay.headers['idempotent-replayed']]).toEqual([
      'https://b.example',
      'true',
    ]);
  });
});
