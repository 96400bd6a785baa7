import { gzipSync } from 'node:zlib';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { bindRequest, dto, file, idempotency, optional, string } from '../../lib';
import { ask, type Sent } from '../support/ask';
import { expressVersions } from '../support/express-versions';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';

class Upload extends dto({ title: optional(string), note: optional(string), scan: optional(file) }) {}

/** Reads the whole body, and leaves what is made of its bytes. */
const leaving =
  (leave: (bytes: Buffer, req: Request) => void): RequestHandler =>
  (req, _res, next) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      leave(Buffer.concat(chunks), req);
      next();
    });
  };
const body = (make: (bytes: Buffer) => unknown): RequestHandler =>
  leaving((bytes, req) => {
    Object.assign(req, { body: make(bytes) });
  });

const text = (title: string, scan: BlobPart = 'scan'): Sent => ({
  multipart: [
    ['title', title],
    ['scan', new File([scan], 'a.txt')],
  ],
});
const { body: form, headers } = multipart([{ name: 'title', value: 'a' }], 'b1');
const compressed: Sent = { body: gzipSync(form), headers: { ...headers, 'Content-Encoding': 'gzip' } };
const chunked: Sent['headers'] = { 'Transfer-Encoding': 'chunked' };

describe.each(expressVersions)('%s', (_version, version) => {
  const textParser = version.text({ type: () => true });

  /** Returns the run that answered each request, or the error; every request is sent with the same key. */
  async function answers(parser: RequestHandler, guards: readonly RequestHandler[], sent: readonly Sent[]) {
    let runs = 0;
    const app: Express = version();
    app.post('/', parser, ...guards, (req: Request, res: Response) => {
      const { title, note, scan } = (req.dto ?? {}) as Upload;
      res.json([++runs, title, note, scan?.buffer.toString()].filter(value => value !== undefined));
    });
    app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
      if (res.headersSent) next(error);
      else res.status(500).json(error.message);
    });
    const { url } = await serve(app);
    const all: unknown[] = [];
    for (const one of sent) all.push(JSON.parse((await ask(url, { key: 'k', ...one })).text));
    return all;
  }
  const bound = (): RequestHandler =>
    bindRequest(Upload, { allowFormData: { urlEncoded: true } }) as unknown as RequestHandler;

  it.each<[string, (bytes: Buffer) => unknown]>([
    ['text', String],
    ['bytes', bytes => bytes],
  ])('JSON whose bytes are left as %s in req.rawBody is compared by them', async (_kind, leave) => {
    const parser = version.json({
      verify: (req, _res, bytes) => {
        Object.assign(req, { rawBody: leave(bytes) });
      },
    });
    const amount = (digits: string): Sent => ({ json: `{"amount":${digits}}` });
    const sent = [amount('9007199254740993'), amount('9007199254740992'), amount('9007199254740993')];
    expect(await answers(parser, [idempotency()], sent)).toEqual([[1], [2], [1]]);
  });

  const parsers: readonly (readonly [string, RequestHandler])[] = [
    ['express.text() leaves as text', textParser],
    ['another parser leaves as text', body(bytes => bytes.toString())],
    ['a parser leaves as a Uint8Array', body(bytes => new Uint8Array(bytes))],
    ['a parser leaves as an ArrayBuffer', body(bytes => new Uint8Array(bytes).buffer)],
    [
      'a parser leaves in req.rawBody as a Uint8Array',
      leaving((bytes, req) => {
        Object.assign(req, { rawBody: new Uint8Array(bytes), body: {} });
      }),
    ],
  ];

  it.each<[string, RequestHandler]>([
    [
      'a parser keeps in req.rawBody',
      version.json({
        verify: (req, _res, bytes) => {
          Object.assign(req, { rawBody: bytes.toString() });
        },
      }),
    ],
    [
      'a logger leaves in req.rawBody',
      leaving((bytes, req) => {
        Object.assign(req, { rawBody: bytes.toString() });
      }),
    ],
  ])('JSON whose text %s is the same request in chunks, and bound', async (_what, parser) => {
    const json = (title: string): Sent => ({ json: { title } });
    const inChunks = (title: string): Sent => ({ ...json(title), headers: chunked });
    const sent = [json('é'), inChunks('é'), inChunks('è'), json('è')];
    const answered = [
      [1, 'é'],
      [1, 'é'],
      [2, 'è'],
      [2, 'è'],
    ];
    expect(await answers(parser, [idempotency(), bound()], sent)).toEqual(answered);
  });

  it.each<[string, BufferEncoding, string, Sent['headers']]>([
    ['with U+FFFD', 'utf8', 'a\ufffd', {}],
    ['with U+FFFD and in chunks', 'utf8', 'a\ufffd', chunked],
    ['as Latin-1', 'latin1', 'é', {}],
    ['as Latin-1 and in chunks', 'latin1', 'é', chunked],
    [
      'in another charset and in chunks',
      'utf8',
      'é',
      { ...chunked, 'Content-Type': 'application/json; charset=utf-16' },
    ],
  ])('JSON left as text that may not be its bytes is an error that says so: %s', async (_what, read, title, more) => {
    const logger = leaving((bytes, req) => {
      Object.assign(req, { rawBody: bytes.toString(read) });
    });
    const error = /has left the request body in req\.rawBody as text .* or set req\.rawBody to the bytes/;
    const sent = { body: JSON.stringify({ title }), headers: { 'Content-Type': 'application/json', ...more } };
    for (const guards of [[idempotency()], [bound()]])
      expect(await answers(logger, guards, [sent])).toEqual([expect.stringMatching(error)]);
  });

  it.each(parsers)('a form that %s is one request under each boundary', async (_what, parser) => {
    const sent = [text('é'), text('é'), text('è'), { ...text('è'), headers: chunked }];
    expect(await answers(parser, [idempotency()], sent)).toEqual([[1], [1], [2], [2]]);
  });

  it.each(parsers)('a form that %s is bound, with its files', async (_what, parser) => {
    expect(await answers(parser, [bound()], [text('é')])).toEqual([[1, 'é', 'scan']]);
    expect(await answers(parser, [idempotency(), bound()], [text('é'), text('é')])).toEqual([
      [1, 'é', 'scan'],
      [1, 'é', 'scan'],
    ]);
  });

  it.each<[string, RequestHandler, Sent]>([
    ['with bytes that are not UTF-8', textParser, text('a', Buffer.from([0xf0, 0x9f, 0x98]))],
    ['compressed', textParser, compressed],
    ['as Latin-1', body(bytes => bytes.toString('latin1')), text('é')],
    ['as Latin-1 and in chunks', body(bytes => bytes.toString('latin1')), { ...text('é'), headers: chunked }],
  ])('a form left as text that may not be its bytes is an error that says so: %s', async (_what, parser, sent) => {
    const error = /has left a multipart form in req\.body as text .* or set req\.rawBody to the bytes/;
    for (const guards of [[idempotency()], [bound()]])
      expect(await answers(parser, guards, [sent])).toEqual([expect.stringMatching(error)]);
  });

  it('the fields of an urlencoded form left as text are one request in any order', async () => {
    const sent = [{ form: 'title=a&note=b' }, { form: 'note=b&title=a' }, { form: 'title=a&note=c' }];
    expect(await answers(textParser, [idempotency()], sent)).toEqual([[1], [1], [2]]);
    const inChunks = sent.map(one => ({ ...one, headers: chunked }));
    expect(await answers(textParser, [bound()], [...sent, ...inChunks].slice(2, 4))).toEqual([
      [1, 'a', 'c'],
      [2, 'a', 'b'],
    ]);
  });

  it('a form left as URLSearchParams is bound, and one left as another collection is an error', async () => {
    const pairs = [
      ['title', 'a'],
      ['note', 'b'],
    ] as const;
    const form = { form: 'title=a&note=b' };
    expect(
      await answers(
        body(bytes => new URLSearchParams(String(bytes))),
        [bound()],
        [form],
      ),
    ).toEqual([[1, 'a', 'b']]);
    for (const [make, name] of [
      [() => new Map(pairs), 'Map'],
      [() => new FormData(), 'FormData'],
    ] as const)
      for (const sent of [form, text('a')])
        expect(await answers(body(make), [bound()], [sent])).toEqual([
          expect.stringContaining(`req.body holds the form as a ${name}, whose values bindRequest() cannot read`),
        ]);
  });
});
