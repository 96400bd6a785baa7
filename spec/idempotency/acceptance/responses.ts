import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runInNewContext } from 'node:vm';
import type { RequestHandler } from 'express';

interface Row {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly handler: RequestHandler;
}

const EXACT = '{ "price": 1.0,  "id": 12345678901234567890,\n\t"rate": 1e2, "text": "\\u00e9" }';
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

const row = (title: string, handler: RequestHandler, more: Omit<Row, 'handler'> = {}): [string, Row] => [
  title,
  { ...more, handler },
];

async function* slowly(...chunks: readonly (string | Buffer)[]): AsyncGenerator<string | Buffer> {
  for (const chunk of chunks) {
    await new Promise(setImmediate);
    yield chunk;
  }
}

/** Every way in which bytes, a head or trailers get into a response. */
export const responses: [title: string, row: Row][] = [
  // Bodies.
  row('an object by json', (_req, res) => void res.json({ a: [1, 'é', null] })),
  row(
    'JSON text that the handler wrote is not serialised again: 1.0, 20 digits, spaces',
    (_req, res) => void res.type('json').send(EXACT),
  ),
  row("json('')", (_req, res) => void res.json('')),
  row('json(null)', (_req, res) => void res.json(null)),
  row('json(false)', (_req, res) => void res.json(false)),
  row('json(0)', (_req, res) => void res.json(0)),
  row("send('')", (_req, res) => void res.send('')),
  row('send of text', (_req, res) => void res.send('grün 🦉')),
  row('send of a Buffer', (_req, res) => void res.send(BYTES)),
  row('two megabytes', (_req, res) => void res.send(Buffer.alloc(2_000_000, 'abc'))),
  row('two megabytes in two pieces, with trailers', (_req, res) => {
    res.set('Trailer', 'X-T').write(Buffer.alloc(1_000_000, 'abc'));
    res.addTrailers({ 'X-T': '1' });
    res.end(Buffer.alloc(1_000_000, 'xyz'));
  }),
  row('two megabytes under a length that the handler declares', (_req, res) => {
    res.writeHead(200, { 'Content-Length': 2_000_000 }).write(Buffer.alloc(1_000_000, 'abc'));
    res.end(Buffer.alloc(1_000_000, 'xyz'));
  }),
  row('end without a body', (_req, res) => void res.end()),
  row('a Buffer by end, without a type', (_req, res) => void res.end(BYTES)),
  row('send(null)', (_req, res) => void res.send(null)),
  row('a stream of a file', (_req, res) => {
    createReadStream(__filename, { highWaterMark: 100 }).pipe(res.type('text'));
  }),
  row('sendFile of a file that is not there', (_req, res) =>
    res.sendFile('/nothing-here', error => void res.status(error ? 404 : 200).end()),
  ),
  row('download', (_req, res) => res.download(__filename, 'brief.txt')),
  row('end with text in latin1', (_req, res) => void res.end('grün', 'latin1')),
  row('end with a Uint8Array', (_req, res) => void res.end(new Uint8Array([0, 255, 10, 13]))),
  row('write and end with a Uint8Array of another realm', (_req, res) => {
    const bytes = (): Uint8Array => runInNewContext('new Uint8Array([0, 255, 10, 13])') as Uint8Array;
    res.write('one');
    res.write(bytes());
    res.end(bytes());
  }),
  row('flushHeaders, and a Uint8Array of another realm', (_req, res) => {
    res.flushHeaders();
    res.end(runInNewContext('new Uint8Array([97, 98, 99])'));
  }),
  row('write and end, chunked', (_req, res) => {
    res.write('first, ');
    res.write(BYTES);
    res.end('last');
  }),
  row('write in hex, base64, latin1 and utf16le', (_req, res) => {
    res.write('00ff', 'hex');
    res.write('aGk=', 'base64');
    res.write('ü', 'latin1');
    res.end('ü', 'utf16le');
  }),
  row('writes from one Buffer that is used again', (_req, res) => {
    const buffer = Buffer.from('first');
    res.write(buffer, () => {
      buffer.write('other');
      res.end(buffer);
    });
  }),
  row('write and end with a Content-Length', (_req, res) => {
    res.set('Content-Length', '11');
    res.write('hello ');
    res.end('world');
  }),
  row('write of all of the Content-Length, then an empty end', (_req, res) => {
    res.set('Content-Length', '5');
    res.write('he');
    res.write('llo');
    res.end();
  }),
  row('Transfer-Encoding set by the handler', (_req, res) => {
    res.set('Transfer-Encoding', 'chunked');
    res.end('x');
  }),
  row('a stream piped', (_req, res) => {
    Readable.from(slowly('a'.repeat(70_000), BYTES, 'z')).pipe(res);
  }),
  row('a stream piped under a Content-Length', (_req, res) => {
    res.set('Content-Length', '259');
    Readable.from(slowly('ab', BYTES, 'z')).pipe(res);
  }),
  row('a pipeline through a transform', async (_req, res) => {
    await pipeline(slowly('one', 'two'), new PassThrough(), res);
  }),
  row('a web stream', async (_req, res) => {
    await pipeline(Readable.fromWeb(new Blob(['web ', BYTES]).stream() as never), res);
  }),
  row('write that waits for drain', async (_req, res) => {
    if (!res.write('x'.repeat(5_000_000))) await once(res, 'drain');
    res.end('y');
  }),
  row('sendFile', (_req, res) => res.sendFile('responses.ts', { root: __dirname })),
  row('sendFile of a range', (_req, res) => res.sendFile('responses.ts', { root: __dirname }), {
    headers: { Range: 'bytes=10-19' },
  }),
  row('HEAD of json', (_req, res) => void res.json({ a: 1 }), { method: 'HEAD' }),
  row(
    'HEAD of write and end',
    (_req, res) => {
      res.write('nobody ');
      res.end('reads it');
    },
    { method: 'HEAD' },
  ),
  row('HEAD of sendFile', (_req, res) => res.sendFile('responses.ts', { root: __dirname }), { method: 'HEAD' }),
  // Heads: status, reason, header lines and trailers.
  row('204 by end', (_req, res) => void res.status(204).end()),
  row('204 by send', (_req, res) => void res.status(204).send('not sent')),
  row('204 by sendStatus', (_req, res) => void res.sendStatus(204)),
  row('304', (_req, res) => void res.status(304).set('ETag', '"v1"').end()),
  row('a redirect', (_req, res) => res.redirect(303, '/orders/7?a=b&c=ü')),
  row('an error status', (_req, res) => void res.status(503).set('Retry-After', '7').json({ error: 'busy' })),
  row('a reason phrase by statusMessage', (_req, res) => {
    res.statusMessage = 'Very fine';
    res.send('x');
  }),
  row(
    'two Set-Cookie by cookie',
    (_req, res) => void res.cookie('a', '1').cookie('b', '2', { httpOnly: true }).send('x'),
  ),
  row('two Set-Cookie as one array', (_req, res) => {
    res.setHeader('Set-Cookie', ['a=1', 'b=2']);
    res.end('x');
  }),
  row('headers with odd spelling, numbers, repetitions and latin1', (_req, res) => {
    res.setHeader('X-oDD', 1.5);
    res.setHeader('X-Twice', ['1', '2']);
    res.setHeader('x-name', 'grün');
    res.end(BYTES);
  }),
  row('writeHead with an object', (_req, res) => {
    res.setHeader('X-Kept', '1');
    res.setHeader('X-Over', 'no');
    res.writeHead(201, { 'X-Over': 'yes', 'Set-Cookie': ['a=1', 'b=2'], 'Content-Type': 'text/plain' }).end('object');
  }),
  row(
    'writeHead with a flat array',
    (_req, res) =>
      void res.writeHead(200, ['X-Flat', 'a', 'X-Flat', 'b', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end('flat'),
  ),
  row('writeHead with a flat array over set headers', (_req, res) => {
    res.setHeader('X-Flat', 'no');
    res.writeHead(200, ['X-Flat', 'a', 'X-Other', 'b']).end('flat');
  }),
  row(
    'writeHead with a nested array',
    (_req, res) =>
      void res
        .writeHead(200, [
          ['X-Nested', 'a'],
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
        ])
        .end('nested'),
  ),
  row(
    'writeHead with a reason phrase',
    (_req, res) => void res.writeHead(418, 'Short and stout', { 'X-Pot': 'tea' }).end('teapot'),
  ),
  row(
    'writeHead with a reason phrase and an array',
    (_req, res) => void res.writeHead(200, 'So it is', ['X-Flat', 'a']).end('flat'),
  ),
  row('writeHead with a Content-Length', (_req, res) => {
    res.writeHead(200, { 'Content-Length': 4 });
    res.write('ab');
    res.end('cd');
  }),
  row('trailers', (_req, res) => {
    res.set('Trailer', 'X-Sum, X-Count');
    res.write('counted');
    res.addTrailers({ 'X-Sum': '7' });
    res.addTrailers({ 'X-Sum': '42', 'X-Count': '2' });
    res.end();
  }),
  row('a repeated trailer', (_req, res) => {
    res.setHeader('Trailer', 'Server-Timing').write('a');
    res.addTrailers([
      ['Server-Timing', 'db;dur=1'],
      ['Server-Timing', 'app;dur=2'],
    ] as never);
    res.end();
  }),
  row('a Content-Length as a list', (_req, res) => void res.setHeader('Content-Length', ['3']).end('abc')),
  row('trailers as pairs after one write', (_req, res) => {
    res.write('counted');
    res.addTrailers([['X-Sum', '42']]);
    res.end('!');
  }),
  row('early hints before it', (_req, res) => {
    res.writeEarlyHints({ link: '</a.css>; rel=preload' });
    res.send('x');
  }),
  row('a head that is flushed first', (_req, res) => {
    res.set('X-First', '1').flushHeaders();
    setImmediate(() => res.end('later'));
  }),
  row('a flushed head that is all there is', (_req, res) => {
    res.status(204).set('X-First', '1').flushHeaders();
    setImmediate(() => res.end());
  }),
  row('an empty body with a Content-Length', (_req, res) => {
    res.set('Content-Length', '0').flushHeaders();
    res.end();
  }),
];
