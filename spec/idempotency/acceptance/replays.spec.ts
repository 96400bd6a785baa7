import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';
import fc from 'fast-check';
import { Keyv } from 'keyv';
import { memoryLeases, type IdempotencyOptions, type RecordedResponse, type Store } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen } from '../../support/guarded';
import { closing, RawClient } from '../../support/raw-client';
import { visible, visibleReplay } from '../../support/replays';

/** What has broken in other libraries, and must hold of a replay: it is the original, byte for byte and line for line. */

/** A store of the application's own. It returns bytes as its driver does (`node:sqlite`): a Uint8Array, no Buffer. */
function ownStore(): Store {
  const kept = new Map<string, RecordedResponse>();
  const get = (_key: string, token: string): RecordedResponse | undefined => {
    const found = kept.get(token);
    return found && { ...found, body: new Uint8Array(found.body) as Buffer };
  };
  const set = (_key: string, token: string, response: RecordedResponse): void => void kept.set(token, response);
  return { leases: memoryLeases(), responses: { get, set, delete: (_key, token) => void kept.delete(token) } };
}

const places: [where: string, before: RequestHandler[], options: IdempotencyOptions][] = [
  ['in the default store', [], {}],
  ['in a Keyv', [], { store: new Keyv() }],
  ['in a store of the application', [], { store: ownStore() }],
  ['behind compression', [compression({ threshold: 100 })], {}],
];

const value = fc.constantFrom('a', 'b, c', '1.50', '"q"');
const headers = fc.uniqueArray(
  fc.tuple(
    fc.constantFrom('X-A', 'x-oDD', 'Vary', 'Set-Cookie', 'ETag', 'Location', 'Content-Type'),
    fc.oneof(value, fc.integer(), fc.array(value, { minLength: 1, maxLength: 3 })),
  ),
  { selector: ([name]) => name, maxLength: 4 },
);
const pairs = (...names: string[]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...names), value), { selector: ([name]) => name, maxLength: 3 });
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map(array => Buffer.from(array)),
  fc.nat(300_000).map(size => Buffer.alloc(size, 'ä bit long. ')),
);
type Encoding = 'bytes' | 'array' | 'foreign' | BufferEncoding;
const encodings: Encoding[] = ['bytes', 'array', 'foreign', 'latin1', 'hex', 'base64', 'utf16le', 'utf8'];
const piece = fc
  .record({ bytes, as: fc.constantFrom(...encodings) })
  // What is no text in an encoding cannot be written in it.
  .filter(({ bytes: all, as }) => !Buffer.isEncoding(as) || Buffer.from(all.toString(as), as).equals(all));

/** A random response: what a handler does, one thing after the other. */
const random = fc.record({
  method: fc.constantFrom('POST', 'POST', 'PUT', 'GET', 'HEAD'),
  status: fc.constantFrom(200, 200, 200, 201, 204, 205, 304, 303, 404, 503),
  reason: fc.option(fc.constantFrom('Fine', 'So it is'), { nil: undefined }),
  headers,
  // It is left to node, flushed, or written: with an object or a list.
  head: fc.constantFrom('left', 'left', 'flushed', 'object', 'list'),
  written: pairs('X-B', 'X-C', 'Content-Language'),
  pieces: fc.array(piece, { maxLength: 4 }),
  declaresLength: fc.boolean(),
  trailers: pairs('X-Sum', 'Server-Timing'),
  // A turn passes before each piece, or it is waited for that the one before has left.
  pace: fc.constantFrom('at once', 'in turns', 'waiting'),
  // The piece before which its client leaves; it stays if there are not so many.
  leavesBefore: fc.nat(8),
});
type Answer = typeof random extends fc.Arbitrary<infer T> ? T : never;

/** Node has a Uint8Array of another realm for one of its own. */
const foreignOf = (all: Buffer): Uint8Array => runInNewContext('new Uint8Array(all)', { all: [...all] }) as Uint8Array;

/** What is given to `write` or `end` for a piece. */
function given({ bytes: all, as }: Answer['pieces'][number]): [chunk: string | Uint8Array, encoding?: BufferEncoding] {
  if (Buffer.isEncoding(as)) return [all.toString(as), as];
  return [as === 'bytes' ? all : as === 'array' ? new Uint8Array(all) : foreignOf(all)];
}

function begin(res: Response, { status, reason, headers: set, head, written, pieces, declaresLength }: Answer): void {
  for (const [name, one] of set) res.setHeader(name, one);
  if (declaresLength) res.setHeader('Content-Length', Buffer.concat(pieces.map(one => one.bytes)).length);
  res.statusCode = status;
  if (reason !== undefined) res.statusMessage = reason;
  if (head === 'flushed') res.flushHeaders();
  if (head === 'object') res.writeHead(status, Object.fromEntries(written));
  if (head === 'list') res.writeHead(status, written.flat());
}

/** Answers as it is said. @param leave makes the client leave, and resolves when that is known. */
async function carryOut(res: Response, said: Answer, leave: () => Promise<unknown>): Promise<void> {
  if (said.leavesBefore === 0) await leave();
  begin(res, said);
  for (const [at, one] of said.pieces.entries()) {
    if (at > 0 && said.leavesBefore === at) await leave();
    if (said.pace === 'in turns') await new Promise(setImmediate);
    const [chunk, encoding] = given(one);
    if (at === said.pieces.length - 1) {
      if (said.trailers.length > 0) res.addTrailers(said.trailers as never);
      res.end(chunk, encoding as BufferEncoding);
    } else if (said.pace === 'waiting') await new Promise(resolve => res.write(chunk, encoding ?? 'utf8', resolve));
    else res.write(chunk, encoding as BufferEncoding);
  }
  if (said.pieces.length === 0) res.end();
}

/** In how Express, streams and odd calls answer. */
const EXACT = '{ "price": 1.0,  "id": 12345678901234567890,\n\t"rate": 1e2, "text": "\\u00e9" }';
const file = { root: __dirname };
const twoCookies = ['a=1', 'b=2'].map(cookie => ['Set-Cookie', cookie]);
async function* slowly(...chunks: readonly (string | Buffer)[]): AsyncGenerator<string | Buffer> {
  for (const chunk of chunks) {
    await new Promise(setImmediate);
    yield chunk;
  }
}
const answers: [title: string, act: (res: Response) => unknown, request?: object][] = [
  ...[{ a: [1, 'é', null] }, '', null, false, 0].map((body): [string, (res: Response) => unknown] => [
    `json(${JSON.stringify(body)})`,
    res => res.json(body),
  ]),
  ['json that is long enough to be compressed', res => res.json({ a: 'long '.repeat(100) })],
  ...['', 'grün 🦉', Buffer.from([0, 255]), null].map((body, at): [string, (res: Response) => unknown] => [
    `send, ${at}`,
    res => res.send(body),
  ]),
  ['JSON text of its own: 1.0, 20 digits, spaces', res => res.type('json').send(EXACT)],
  ['204 by send', res => res.status(204).send('not sent')],
  ['204 by sendStatus', res => res.sendStatus(204)],
  ['a redirect', res => res.redirect(303, '/orders/7?a=b&c=ü')],
  ['two Set-Cookie by cookie', res => res.cookie('a', '1').cookie('b', '2', { httpOnly: true }).send('x')],
  ['sendFile', res => res.sendFile('replays.spec.ts', file)],
  ['sendFile of a range', res => res.sendFile('replays.spec.ts', file), { headers: { Range: 'bytes=10-19' } }],
  ['HEAD of sendFile', res => res.sendFile('replays.spec.ts', file), { method: 'HEAD' }],
  ['sendFile of nothing', res => res.sendFile('/none', error => void res.status(error ? 404 : 200).end())],
  ['download', res => res.download(__filename, 'brief.txt')],
  ['a stream piped', res => Readable.from(slowly('a'.repeat(70_000), Buffer.from([0, 255]), 'z')).pipe(res)],
  ['a stream under a Content-Length', res => Readable.from(slowly('a', 'z')).pipe(res.set('Content-Length', '2'))],
  ['a pipeline', async res => pipeline(slowly('one', 'two'), res)],
  ['a web stream', async res => pipeline(Readable.fromWeb(new Blob(['web ', 'x']).stream() as never), res)],
  ['a wait for drain', async res => (res.write('x'.repeat(2_000_000)) || (await once(res, 'drain')), res.end())],
  ['early hints before it', res => (res.writeEarlyHints({ link: '</a.css>; rel=preload' }), res.send('x'))],
  ['an end behind all of its length', res => res.set('Content-Length', '2').write('he', () => res.end())],
  ['a Content-Length as a list', res => res.setHeader('Content-Length', ['3']).end('abc')],
  ['Transfer-Encoding: chunked of its own', res => res.set('Transfer-Encoding', 'chunked').end('x')],
  ['end under a Trailer', res => res.set('Trailer', 'X-T').end('abc')],
  ['writeHead with a list of pairs', res => res.writeHead(200, [['X-N', 'a'], ...twoCookies] as never).end('nested')],
  ['a header in latin1', res => res.setHeader('x-name', 'grün').end(Buffer.from([0, 255]))],
  ['writeHead with a list over set headers', res => res.setHeader('X-F', 'no').writeHead(200, ['X-F', 'a']).end()],
];

const withoutLength = ({ lines, ...rest }: ReturnType<typeof visible>): object => ({
  ...rest,
  framing: undefined,
  lines: lines.filter(line => !line.startsWith('Content-Length:')),
});

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
    res => (res.removeHeader('X-Debug'), res.end()),
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
    res => (res.removeHeader('Content-Encoding'), res.writeHead(200, ['X-A', 'a']).end('ab')),
    () => ['Content-Type: text/plain; charset=utf-8', 'X-A: a'],
  ],
];

describe.each(expressVersions)('%s', (_version, version) => {
  describe.each(places)(
    'a replay equals the original byte for byte and header line for header line, %s,',
    (...place) => {
      const [, before, options] = place;
      const guard = { addHeaderToResponse: false, ...options };

      it('and that what it is without us, whatever a handler does, whoever leaves', async () => {
        let said: Answer;
        let client: RawClient | undefined;
        const act = (req: Request, res: Response, _next: unknown, run: number): unknown => {
          const { socket } = req;
          const gone = closing(socket);
          const leave = (): Promise<unknown> => (run > 0 ? (client?.leave(), gone) : Promise.resolve());
          return carryOut(res, said, leave);
        };
        const { port, post, log } = await guarded(guard, act, { version, before });
        let keys = 0;
        await fc.assert(
          fc.asyncProperty(random, async one => {
            // The write() of compression has no callback; and what becomes of trailers behind it is its own.
            said = before.length === 0 ? one : { ...one, pace: 'in turns', trailers: [] };
            const { method } = said;
            const asked = { method, headers: { 'Accept-Encoding': 'gzip' }, key: `k${keys++}` };
            const isLeft = method === 'POST' && said.leavesBefore < Math.max(1, said.pieces.length);
            const bare = visible(await post({ ...asked, path: '/bare' }));
            if (isLeft) {
              client = RawClient.asks(port, '/', [`Idempotency-Key: ${asked.key}`]);
              while (log.events.at(-1)?.key !== asked.key) await new Promise(setImmediate);
              expect(withoutLength(visibleReplay(await post(asked)))).toEqual(withoutLength(bare));
            } else {
              client = undefined;
              said = { ...said, leavesBefore: Infinity };
              const original = visible(await post(asked));
              if (before.length === 0) expect(original).toEqual(bare);
              expect(visibleReplay(await post(asked))).toEqual(original);
            }
          }),
          { numRuns: 60 },
        );
      });

      it.each(answers)('and that what it is without us: %s', async (_title, act, request = {}) => {
        const { post, runs } = await guarded(guard, (_req, res) => act(res), { version, before });
        const asked = { headers: { 'Accept-Encoding': 'gzip' }, ...request };
        const original = visible(await post(asked));
        if (before.length === 0) expect(original).toEqual(visible(await post({ ...asked, path: '/bare' })));
        for (let turn = 0; turn < 2; turn++) expect(visibleReplay(await post(asked))).toEqual(original);
        expect(runs()).toBe(1);
      });
    },
  );

  // Node alone would send it in chunks; where its end is held back, its length is known, and declared.
  it.each(['', 'abc', EXACT])('a length that is set and removed is declared anew: of %j', async body => {
    const act = (_req: unknown, res: Response): unknown => {
      res.set('Content-Length', '3').removeHeader('content-length');
      return res.end(body);
    };
    const { post } = await guarded({ addHeaderToResponse: false }, act, { version });
    const original = visible(await post());
    expect(withoutLength(original)).toEqual(withoutLength(visible(await post({ path: '/bare' }))));
    expect(visibleReplay(await post())).toEqual(original);
  });

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
      const [own, bare] = ['/', '/bare'].map(path =>
        RawClient.asks(port, path, ['Idempotency-Key: k', 'Connection: close']),
      );
      const date = /Date: .*\r\n/;
      expect((await own?.closed())?.replace(date, '')).toBe((await bare?.closed())?.replace(date, ''));
      expect([seen(await post()), runs()]).toEqual([expect.stringContaining('response-unavailable'), 1]);
    },
  );

  it.each<[string, IdempotencyOptions['replayedHeader'], string[]]>([
    ['is Idempotent-Replayed', undefined, ['Idempotent-Replayed: true']],
    ['has the name that is given', 'X-Again', ['X-Again: true']],
    ['can be left out', false, []],
  ])('the mark of a replay %s', async (_title, replayedHeader, expected) => {
    const { post } = await guarded({ replayedHeader }, undefined, { version });
    const { lines } = await post();
    expect((await post()).lines).toEqual([...lines, ...expected]);
  });
});
