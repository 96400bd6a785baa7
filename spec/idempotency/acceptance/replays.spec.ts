import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler, Response } from 'express';
import { Keyv } from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';
import { visible, visibleReplay } from '../../support/replays';
import { responses } from './responses';

/** What has broken in other libraries, and must hold of a replay: it is the original, byte for byte and line for line. */

const places: [where: string, before: RequestHandler[], options: IdempotencyOptions][] = [
  ['in the default store', [], {}],
  ['in a Keyv', [], { store: new Keyv() }],
  ['behind compression', [compression({ threshold: 100 })], {}],
];

const withoutLength = ({ lines, ...rest }: ReturnType<typeof visible>): object => ({
  ...rest,
  framing: undefined,
  lines: lines.filter(line => !line.startsWith('Content-Length:')),
});

/** What comes over the wire, without the date. */
async function wire(port: number, path: string): Promise<string> {
  const client = connect(port, '127.0.0.1');
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  let bytes = '';
  for await (const chunk of client) bytes += (chunk as Buffer).toString('latin1');
  return bytes.replace(/Date: .*\r\n/, '');
}

/** What a middleware before us does to the response of the nth request, what the handler does, and the lines of the nth. */
type Front = [
  title: string,
  front: (res: Response, n: number) => unknown,
  act: (res: Response) => unknown,
  lines: (n: number) => string[],
];
const fronts: Front[] = [
  [
    'what the handler changes is what it made of it, at its place; what it leaves alone is that of the request at hand',
    (res, n) => res.set('Vary', 'Origin').set('X-Request-Id', String(n)),
    res => res.vary('Accept').set('X-A', 'a').end(),
    n => ['Vary: Origin, Accept', `X-Request-Id: ${n}`, 'X-A: a', 'Content-Length: 0'],
  ],
  [
    'what the handler removes is removed',
    (res, n) => res.set('X-Debug', String(n)).set('X-Request-Id', String(n)),
    res => {
      res.removeHeader('X-Debug');
      res.end();
    },
    n => [`X-Request-Id: ${n}`, 'Content-Length: 0'],
  ],
  [
    "a cookie is that of the request at hand, if there is one, and the handler's are added to it",
    (res, n) => (n === 3 ? 0 : res.append('Set-Cookie', `s=${n}`)),
    res => res.append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=1').end(),
    n => [...(n === 3 ? [] : [`Set-Cookie: s=${n}`]), 'Set-Cookie: a=1', 'Set-Cookie: b=1', 'Content-Length: 0'],
  ],
  [
    'what describes the body belongs to the body, whoever sets it',
    (res, n) => res.set('Content-Type', `text/${n}`).set('Content-Length', String(2 * n)),
    res => res.end('ab'),
    () => ['Content-Type: text/1; charset=utf-8', 'Content-Length: 2'],
  ],
  [
    'what describes a body is gone where the handler took it away',
    (res, n) => res.set('Content-Encoding', `x-${n}`).set('Content-Type', 'text/plain'),
    res => {
      res.removeHeader('Content-Encoding');
      res.writeHead(200, ['X-A', 'a']).end('ab');
    },
    () => ['Content-Type: text/plain; charset=utf-8', 'X-A: a'],
  ],
];

describe.each(expressVersions)('%s', (_version, version) => {
  it.each(responses.map(([title, row]) => ({ title, ...row })))(
    'a replay equals the original byte for byte and header line for header line, and that what it is without us: $title',
    async ({ method = 'POST', headers = {}, handler, declaresLength }) => {
      for (const [, before, options] of places) {
        const { post, runs } = await guarded({ addHeaderToResponse: false, ...options }, handler, { version, before });
        const request = { method, headers: { 'Accept-Encoding': 'gzip', ...headers } };
        const original = visible(await post(request));
        const bare = visible(await post({ ...request, path: '/bare' }));
        // With a header set before, node 20 takes the lists of `writeHead` apart in another way than without.
        if (declaresLength) expect(withoutLength(original)).toEqual(withoutLength(bare));
        else if (before.length === 0) expect(original).toEqual(bare);
        for (let turn = 0; turn < 2; turn++) expect(visibleReplay(await post(request))).toEqual(original);
        expect(runs()).toBe(1);
      }
    },
  );

  it('all lines of one name in an array of headers are sent, and replayed, also over headers set before', async () => {
    const lines = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'];
    const { post } = await guarded({}, (_req, res) => res.writeHead(202, lines).end(), { version });
    for (let turn = 0; turn < 2; turn++) expect((await post()).headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it.each(fronts)(
    'a replay has the lines of the handler, and those that middleware before us sets for the request at hand: %s',
    async (_title, front, act, lines) => {
      let requests = 0;
      const before: RequestHandler = (_req, res, next) => next(void front(res, ++requests));
      const options = { addHeaderToResponse: false };
      const { post } = await guarded(options, (_req, res) => act(res), { version, before: [before] });
      const original = visible(await post());
      expect(original.lines).toEqual(lines(1));
      for (const n of [2, 3]) expect(visibleReplay(await post())).toEqual({ ...original, lines: lines(n) });
    },
  );

  it.each<[what: string, act: (res: Response) => unknown]>([
    ...['gzip', 'gzip, chunked', 'identity'].map((coding): [string, (res: Response) => unknown] => [
      `a transfer coding of its own (${coding})`,
      res => res.set('Transfer-Encoding', coding).end(gzipSync('hello')),
    ]),
    ['a Content-Length that is too short', res => res.set('Content-Length', '2').end('hello')],
    ['a Content-Length that is no number', res => res.set('Content-Length', 'short').end('hello')],
    ['a status that is not final', res => res.writeHead(199).end()],
  ])(
    'a response with %s goes out as it is; it is not kept under another framing, and its request is not run again',
    async (_what, act) => {
      const { port, post, runs } = await guarded({ addHeaderToResponse: false }, (_req, res) => act(res), { version });
      expect(await wire(port, '/')).toBe(await wire(port, '/bare'));
      expect([seen(await post()), runs()]).toEqual([expect.stringContaining('response-unavailable'), 1]);
    },
  );
});
