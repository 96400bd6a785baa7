import compression from 'compression';
import type { RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';

const LONG = 'abc '.repeat(2_000);
/** Bodies whose length nobody has declared when the head is written: node declares it, or not. */
const undeclared: [title: string, handler: RequestHandler, methods?: readonly string[]][] = [
  ['end with text', (_req, res) => void res.end('abc')],
  ['end with nothing', (_req, res) => void res.end()],
  ['end with long text', (_req, res) => void res.type('text').end(LONG)],
  ['end with long bytes of no type', (_req, res) => void res.end(Buffer.from(LONG))],
  [
    'removeHeader of the length, then end',
    (_req, res) => {
      res.removeHeader('Content-Length');
      res.end('abc');
    },
  ],
  [
    'removeHeader of a length that was set, then end',
    (_req, res) => {
      res.set('Content-Length', '3').removeHeader('content-length');
      res.end('abc');
    },
  ],
  [
    'removeHeader of the length, then end with nothing',
    (_req, res) => {
      res.removeHeader('Content-Length');
      res.end();
    },
  ],
  [
    'removeHeader of the length, then end with long text',
    (_req, res) => {
      res.type('text').removeHeader('Content-Length');
      res.end(LONG);
    },
  ],
  [
    'removeHeader of a length that is set again',
    (_req, res) => {
      res.removeHeader('Content-Length');
      res.set('Content-Length', '3').end('abc');
    },
  ],
  ['writeHead, then end', (_req, res) => void res.writeHead(200).end('abc')],
  ['writeHead, then end with nothing', (_req, res) => void res.writeHead(200).end()],
  [
    'writeHead, then end with long text',
    (_req, res) => void res.writeHead(200, { 'Content-Type': 'text/plain' }).end(LONG),
  ],
  [
    'flushHeaders, then end',
    (_req, res) => {
      res.flushHeaders();
      res.end('abc');
    },
  ],
  [
    'write of nothing, then end',
    (_req, res) => {
      res.write('');
      res.end('abc');
    },
  ],
  ['end under a Transfer-Encoding', (_req, res) => void res.set('Transfer-Encoding', 'chunked').end('abc'), ['POST']],
  ['end under a Trailer', (_req, res) => void res.set('Trailer', 'X-T').end('abc'), ['POST']],
  ['205', (_req, res) => void res.status(205).end()],
];
const mounts: [title: string, middlewares: RequestHandler[]][] = [
  ['nothing', []],
  ['compression', [compression()]],
];
const framings = mounts.flatMap(([mounted, before]) =>
  undeclared.flatMap(([title, handler, methods = ['POST', 'HEAD']]) =>
    methods.map(method => ({ mounted, before, title, handler, method })),
  ),
);

/** What a client sees but for the length: it is declared when the end is held back, where node would chunk the content. */
function withoutLength(response: WireResponse): object {
  const seen = visible(response);
  return { ...seen, framing: undefined, lines: seen.lines.filter(line => !line.startsWith('Content-Length:')) };
}

describe.each(expressVersions)('on %s, the length and the framing', (_version, express) => {
  it.each(framings)(
    'of $title, to $method and behind $mounted, are replayed; only a length may be declared that it has not by itself',
    async ({ method, before, handler }) => {
      const app = express()
        .all('/bare', ...before, handler)
        .all('/guarded', ...before, idempotency({ addHeaderToResponse: false }), handler);
      const { url } = await serve(app);
      const ask = (path: string): Promise<WireResponse> =>
        send(url + path, { method, headers: keyed('k', { 'Accept-Encoding': 'gzip' }) });
      const [bare, first, replay] = [await ask('/bare'), await ask('/guarded'), await ask('/guarded')];
      expect(withoutLength(first)).toEqual(withoutLength(bare));
      expect(visibleReplay(replay)).toEqual(visible(first));
    },
    60_000,
  );
});
