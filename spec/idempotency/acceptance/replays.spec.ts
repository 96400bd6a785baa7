import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import compression from 'compression';
import type { RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';

/** What has broken in other libraries, and must hold of a replay: it is the original, byte for byte and line for line. */

/** Bytes that look like nothing, the same every time. */
const noise = (length: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 32) }, (_, index) => createHash('sha256').update(String(index)).digest()),
  ).subarray(0, length);
const text = 'Ein Brief, grün. '.repeat(400);

const responses: [title: string, handler: RequestHandler, method?: string][] = [
  [
    'a Buffer',
    (_req, res) => {
      res.type('png').send(noise(70_001));
    },
  ],
  [
    'a Buffer by end, without a type',
    (_req, res) => {
      res.end(noise(3_000));
    },
  ],
  [
    'a stream of a file',
    (_req, res) => {
      createReadStream(__filename, { highWaterMark: 100 }).pipe(res.type('text'));
    },
  ],
  [
    'a stream through a transform',
    (_req, res) => {
      Readable.from(['a', 'b', noise(5_000)])
        .pipe(
          new Transform({
            transform(chunk: Buffer, _encoding, done) {
              done(null, Buffer.concat([chunk, chunk]));
            },
          }),
        )
        .pipe(res);
    },
  ],
  [
    'write and end',
    (_req, res) => {
      res.type('html').write(text);
      res.write('<p>');
      res.end(Buffer.from('end'));
    },
  ],
  [
    'write, later end',
    (_req, res) => {
      res.type('text').write('now ');
      setTimeout(() => {
        res.end('later');
      }, 5);
    },
  ],
  [
    'sendFile',
    (_req, res) => {
      res.sendFile(__filename, { maxAge: '1d', headers: { 'X-File': 'yes' } });
    },
  ],
  [
    'sendFile of a file that is not there',
    (_req, res, next) => {
      res.sendFile('/nothing-here', error => {
        if (error) next();
        else res.end();
      });
    },
  ],
  [
    'download',
    (_req, res) => {
      res.download(__filename, 'brief.txt');
    },
  ],
  [
    '204 by end',
    (_req, res) => {
      res.status(204).set('X-Left', '3').end();
    },
  ],
  [
    '204 by send',
    (_req, res) => {
      res.status(204).send({ not: 'sent' });
    },
  ],
  [
    '204 by sendStatus',
    (_req, res) => {
      res.sendStatus(204);
    },
  ],
  [
    "''",
    (_req, res) => {
      res.status(201).send('');
    },
  ],
  [
    'null',
    (_req, res) => {
      res.send(null);
    },
  ],
  [
    'null as JSON',
    (_req, res) => {
      res.json(null);
    },
  ],
  [
    'false',
    (_req, res) => {
      res.send(false);
    },
  ],
  [
    '0',
    (_req, res) => {
      res.json(0);
    },
  ],
  [
    'nothing',
    (_req, res) => {
      res.end();
    },
  ],
  [
    'a redirect',
    (_req, res) => {
      res.redirect(307, 'https://shop.example/ü?a=1&b=<2>');
    },
  ],
  [
    'HEAD',
    (_req, res) => {
      res.set('X-Count', '12').json({ text });
    },
    'HEAD',
  ],
  [
    'HEAD of a stream',
    (_req, res) => {
      createReadStream(__filename).pipe(res);
    },
    'HEAD',
  ],
  [
    'chunked',
    (_req, res) => {
      res.setHeader('Transfer-Encoding', 'chunked');
      res.write('one');
      res.end(noise(2_000));
    },
  ],
  [
    'a Content-Length',
    (_req, res) => {
      res.writeHead(200, { 'Content-Length': '9', 'Content-Type': 'text/plain' });
      res.write('nine ');
      res.write('byt');
      res.end('e');
    },
  ],
  [
    'two Set-Cookie',
    (_req, res) => {
      res.cookie('a', 'ü;,', { maxAge: 1_000, secure: true }).append('Set-Cookie', 'b="2"; Path=/').send('cookies');
    },
  ],
  [
    'writeHead with an object',
    (_req, res) => {
      res.writeHead(202, 'Taken', {
        'Content-Type': 'text/plain; charset=utf-8',
        'Set-Cookie': ['a=1', 'a=2'],
        'X-nUmber': 4.5,
      });
      res.end(text);
    },
  ],
  [
    'writeHead with an array',
    (_req, res) => {
      res.writeHead(202, [
        'Content-Type',
        'text/plain',
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'Link',
        '</a>',
        'Link',
        '</b>',
      ]);
      res.end(text);
    },
  ],
  [
    'trailers',
    (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/plain', Trailer: 'X-Digest' });
      res.write(text);
      res.addTrailers({ 'X-Digest': 'abc', 'x-Other': 'ü' });
      res.end('.');
    },
  ],
  [
    'an error status with a type of its own',
    (_req, res) => {
      res.status(422).type('application/problem+json').send('{"title": "no"}');
    },
  ],
];

const rows = expressVersions.flatMap(([version, express]) =>
  responses.flatMap(([title, handler, method]) =>
    [false, true].map(compressed => ({
      title: `${title}${compressed ? ', behind compression' : ''} (${version})`,
      express,
      handler,
      method,
      compressed,
    })),
  ),
);

it.each(rows)(
  'a replay equals the original byte for byte and header line for header line: $title',
  async ({ express, handler, method = 'POST', compressed }) => {
    let runs = 0;
    const app = express().use(
      compressed
        ? compression({ threshold: 100 })
        : (_req, _res, next) => {
            next();
          },
    );
    app.all(
      '/',
      idempotency(),
      (_req, _res, next) => {
        runs++;
        next();
      },
      handler,
    );
    const { url } = await serve(app);
    const ask = (): Promise<WireResponse> =>
      send(url, { method, headers: keyed('k', { 'Accept-Encoding': compressed ? 'gzip' : 'identity' }) });
    const original = visible(await ask());
    expect(visibleReplay(await ask())).toEqual(original);
    expect(visibleReplay(await ask())).toEqual(original);
    expect(runs).toBe(1);
  },
);

it.each(expressVersions)(
  'a replay has the lines of the handler, and those that middleware before us sets for the request at hand (%s)',
  async (_version, express) => {
    let requests = 0;
    const app = express().use((_req, res, next) => {
      res
        .set('X-Request-Id', String(++requests))
        .append('Set-Cookie', `visit=${requests}`)
        .set(`X-Only-${requests}`, 'here');
      next();
    });
    const { url } = await serve(
      app.post('/', idempotency(), (_req, res) => {
        res.append('Set-Cookie', 'a=1').send('x');
      }),
    );
    const original = visible(await send(url, { headers: keyed('k') }));
    expect(original.lines).toEqual(
      expect.arrayContaining(['X-Request-Id: 1', 'Set-Cookie: visit=1', 'Set-Cookie: a=1', 'X-Only-1: here']),
    );
    const lines = original.lines.map(line =>
      line.replace('X-Request-Id: 1', 'X-Request-Id: 2').replace('visit=1', 'visit=2').replace('X-Only-1', 'X-Only-2'),
    );
    expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual({ ...original, lines });
  },
);

it.each(expressVersions)(
  'all lines of one name in an array of headers are sent, and replayed (%s)',
  async (_version, express) => {
    const { url } = await serve(
      express().post('/', idempotency(), (_req, res) => {
        res.writeHead(202, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end();
      }),
    );
    for (let turn = 0; turn < 2; turn++)
      expect((await send(url, { headers: keyed('k') })).headers['set-cookie']).toEqual(['a=1', 'b=2']);
  },
);

it.each([
  '{ "total": 1.0, "rate": 1e2, "id": 98765432109876543210 }',
  '{"b":1,"a":2,"b":3,\r\n"nested":{"z":0.10, "ä":"\\u00e4\\/"}}\n',
  '[1.50,-0,1E+2,"\\ud83e\\udd89",  9007199254740993 ]',
])('JSON text that the handler wrote is not serialised again: %j', async json => {
  const writers: RequestHandler[] = [
    (_req, res) => {
      res.type('json').send(json);
    },
    (_req, res) => {
      res.type('json').end(json);
    },
    (_req, res) => {
      res.set('Content-Type', 'application/json').write(json.slice(0, 7));
      res.end(json.slice(7));
    },
  ];
  for (const [, express] of expressVersions) {
    for (const writer of writers) {
      const { url } = await serve(express().post('/', idempotency(), writer));
      expect([
        (await send(url, { headers: keyed('k') })).text,
        (await send(url, { headers: keyed('k') })).text,
      ]).toEqual([json, json]);
    }
  }
});
