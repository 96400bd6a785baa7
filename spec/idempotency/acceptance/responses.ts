import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runInNewContext } from 'node:vm';
import type { Response } from 'express';
import type { Run } from '../../support/guarded';

interface Row {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly handler: Run;
  /** Node alone would send it in chunks; where its end is held back, its length is known, and declared. */
  readonly declaresLength?: true;
}

const EXACT = '{ "price": 1.0,  "id": 12345678901234567890,\n\t"rate": 1e2, "text": "\\u00e9" }';
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
const MEGABYTE = Buffer.alloc(1_000_000, 'abc');
const file = { root: __dirname };
const twoCookies: [string, string][] = [
  ['Set-Cookie', 'a=1'],
  ['Set-Cookie', 'b=2'],
];
/** A Uint8Array of another realm. */
const foreign = (): Uint8Array => runInNewContext('new Uint8Array([0, 255, 10, 13])') as Uint8Array;

const row = (title: string, act: (res: Response) => unknown, more: Omit<Row, 'handler'> = {}): [string, Row] => [
  title,
  { ...more, handler: (_req, res) => act(res) },
];

/** A response of several pieces: all but the last by `write`. */
function inPieces(res: Response, ...pieces: readonly (string | Uint8Array)[]): void {
  for (const piece of pieces.slice(0, -1)) res.write(piece);
  res.end(pieces.at(-1));
}

async function* slowly(...chunks: readonly (string | Buffer)[]): AsyncGenerator<string | Buffer> {
  for (const chunk of chunks) {
    await new Promise(setImmediate);
    yield chunk;
  }
}

/** Every way in which bytes, a head or trailers get into a response. */
export const responses: [title: string, row: Row][] = [
  // Bodies.
  row('an object by json', res => res.json({ a: [1, 'é', null] })),
  row('JSON text that the handler wrote is not serialised again: 1.0, 20 digits, spaces', res =>
    res.type('json').send(EXACT),
  ),
  ...['', null, false, 0].map(value => row(`json(${JSON.stringify(value)})`, res => res.json(value))),
  ...['', 'grün 🦉', BYTES, null].map((body, at) => row(`send, ${at}`, res => res.send(body))),
  row('two megabytes', res => res.send(Buffer.alloc(2_000_000, 'abc'))),
  row('two megabytes in two pieces, with trailers', res => {
    res.set('Trailer', 'X-T').write(MEGABYTE);
    res.addTrailers({ 'X-T': '1' });
    res.end(MEGABYTE);
  }),
  row('two megabytes under a length that the handler declares', res => {
    inPieces(res.writeHead(200, { 'Content-Length': 2_000_000 }), MEGABYTE, MEGABYTE);
  }),
  row('end without a body', res => res.end()),
  row('a Buffer by end, without a type', res => res.end(BYTES)),
  row('a stream of a file', res => createReadStream(__filename, { highWaterMark: 100 }).pipe(res.type('text'))),
  row('sendFile of a file that is not there', res =>
    res.sendFile('/nothing-here', error => void res.status(error ? 404 : 200).end()),
  ),
  row('download', res => res.download(__filename, 'brief.txt')),
  row('end with text in latin1', res => res.end('grün', 'latin1')),
  row('end with a Uint8Array', res => res.end(new Uint8Array([0, 255, 10, 13]))),
  row('write and end with a Uint8Array of another realm', res => inPieces(res, 'one', foreign(), foreign())),
  row('flushHeaders, and a Uint8Array of another realm', res => {
    res.flushHeaders();
    res.end(foreign());
  }),
  row('write and end, chunked', res => inPieces(res, 'first, ', BYTES, 'last')),
  row('write in hex, base64, latin1 and utf16le', res => {
    res.write('00ff', 'hex');
    res.write('aGk=', 'base64');
    res.write('ü', 'latin1');
    res.end('ü', 'utf16le');
  }),
  row('writes from one Buffer that is used again', res => {
    const buffer = Buffer.from('first');
    res.write(buffer, () => {
      buffer.write('other');
      res.end(buffer);
    });
  }),
  row('write and end with a Content-Length', res => inPieces(res.set('Content-Length', '11'), 'hello ', 'world')),
  row('write of all of the Content-Length, then an empty end', res =>
    inPieces(res.set('Content-Length', '4'), 'he', 'll', ''),
  ),
  row('Transfer-Encoding set by the handler', res => res.set('Transfer-Encoding', 'chunked').end('x')),
  row('a stream piped', res => Readable.from(slowly('a'.repeat(70_000), BYTES, 'z')).pipe(res)),
  row('a stream piped under a Content-Length', res =>
    Readable.from(slowly('ab', BYTES, 'z')).pipe(res.set('Content-Length', '259')),
  ),
  row('a pipeline through a transform', async res => pipeline(slowly('one', 'two'), new PassThrough(), res)),
  row('a web stream', async res => pipeline(Readable.fromWeb(new Blob(['web ', BYTES]).stream() as never), res)),
  row('write that waits for drain', async res => {
    if (!res.write('x'.repeat(2_000_000))) await once(res, 'drain');
    res.end('y');
  }),
  row('sendFile', res => res.sendFile('responses.ts', file)),
  row('sendFile of a range', res => res.sendFile('responses.ts', file), { headers: { Range: 'bytes=10-19' } }),
  row('HEAD of json', res => res.json({ a: 1 }), { method: 'HEAD' }),
  row('HEAD of write and end', res => inPieces(res, 'nobody ', 'reads it'), { method: 'HEAD' }),
  row('HEAD of sendFile', res => res.sendFile('responses.ts', file), { method: 'HEAD' }),
  // Heads: status, reason, header lines and trailers.
  row('204 by end', res => res.status(204).end()),
  row('204 by send', res => res.status(204).send('not sent')),
  row('204 by sendStatus', res => res.sendStatus(204)),
  row('304', res => res.status(304).set('ETag', '"v1"').end()),
  row('a redirect', res => res.redirect(303, '/orders/7?a=b&c=ü')),
  row('an error status', res => res.status(503).set('Retry-After', '7').json({ error: 'busy' })),
  row('a reason phrase by statusMessage', res => Object.assign(res, { statusMessage: 'Very fine' }).send('x')),
  row('two Set-Cookie by cookie', res => res.cookie('a', '1').cookie('b', '2', { httpOnly: true }).send('x')),
  row('two Set-Cookie as one array', res => res.setHeader('Set-Cookie', ['a=1', 'b=2']).end('x')),
  row('headers with odd spelling, numbers, repetitions and latin1', res =>
    res.setHeader('X-oDD', 1.5).setHeader('X-Twice', ['1', '2']).setHeader('x-name', 'grün').end(BYTES),
  ),
  row('writeHead with an object', res =>
    res
      .set({ 'X-Kept': '1', 'X-Over': 'no' })
      .writeHead(201, { 'X-Over': 'yes', 'Set-Cookie': ['a=1', 'b=2'], 'Content-Type': 'text/plain' })
      .end('object'),
  ),
  row('writeHead with a flat array', res =>
    res.writeHead(200, ['X-Flat', 'a', 'X-Flat', 'b', ...twoCookies.flat()]).end('flat'),
  ),
  row('writeHead with a flat array over set headers', res =>
    res.setHeader('X-Flat', 'no').writeHead(200, ['X-Flat', 'a', 'X-Other', 'b']).end('flat'),
  ),
  row('writeHead with a nested array', res => res.writeHead(200, [['X-Nested', 'a'], ...twoCookies]).end('nested')),
  row('writeHead with a reason phrase', res => res.writeHead(418, 'Short and stout', { 'X-Pot': 'tea' }).end('pot')),
  row('writeHead with a reason phrase and an array', res => res.writeHead(200, 'So it is', ['X-Flat', 'a']).end('x')),
  row('writeHead with a Content-Length', res => inPieces(res.writeHead(200, { 'Content-Length': 4 }), 'ab', 'cd')),
  row('trailers', res => {
    res.set('Trailer', 'X-Sum, X-Count').write('counted');
    res.addTrailers({ 'X-Sum': '7' });
    res.addTrailers({ 'X-Sum': '42', 'X-Count': '2' });
    res.end();
  }),
  row('a repeated trailer', res => {
    const lines = ['db;dur=1', 'app;dur=2'].map(value => ['Server-Timing', value]);
    res.setHeader('Trailer', 'Server-Timing').write('a');
    res.addTrailers(lines as never);
    res.end();
  }),
  row('trailers as pairs after one write', res => {
    res.write('counted');
    res.addTrailers([['X-Sum', '42']]);
    res.end('!');
  }),
  row('a Content-Length as a list', res => res.setHeader('Content-Length', ['3']).end('abc')),
  row('early hints before it', res => {
    res.writeEarlyHints({ link: '</a.css>; rel=preload' });
    res.send('x');
  }),
  row('a head that is flushed first', res => {
    res.set('X-First', '1').flushHeaders();
    setImmediate(() => res.end('later'));
  }),
  row('a flushed head that is all there is', res => {
    res.status(204).set('X-First', '1').flushHeaders();
    setImmediate(() => res.end());
  }),
  row('an empty body with a Content-Length', res => {
    res.set('Content-Length', '0').flushHeaders();
    res.end();
  }),
  // What node has to declare of the body, or may not.
  row('write of all of the Content-Length, whose callback ends', res =>
    res.set('Content-Length', '5').write('hello', () => res.end()),
  ),
  row('204 whose write is waited for', res => res.status(204).write('hello', () => res.end())),
  row('write of nothing, then end', res => inPieces(res, '', 'abc')),
  row('writeHead, then end with nothing', res => res.writeHead(200).end()),
  row('HEAD of writeHead, then end with long text', res => res.writeHead(200).end(EXACT), { method: 'HEAD' }),
  row('end under a Trailer', res => res.set('Trailer', 'X-T').end('abc')),
  row('205', res => res.status(205).end()),
  row('a length that is removed, and set again', res => {
    res.removeHeader('Content-Length');
    res.set('Content-Length', '3').end('abc');
  }),
  ...['', 'abc', EXACT].map(body =>
    row(
      `a length that is set and removed, then ${body.length} bytes`,
      res => {
        res.set('Content-Length', '3').removeHeader('content-length');
        res.end(body);
      },
      { declaresLength: true },
    ),
  ),
];
