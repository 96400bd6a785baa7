import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { basename } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { json, type RequestHandler } from 'express';
import multer from 'multer';
import { bindRequest, dto, file, idempotency, optional, string } from '../../lib';
import { countingService, form, runsOf, typed, type Asked } from '../support/counting-service';
import { expressVersions } from '../support/express-versions';
import { guarded, type Run } from '../support/guarded';
import { multipart } from '../support/multipart';
import { keyed } from '../support/replays';
import { signal } from '../support/signal';
import { TemporaryDirectory } from '../support/temporary-directory';

/** Sends a body in pieces, each after the one before has left, unless the answer comes first. */
async function post(url: string, pieces: readonly Buffer[], headers: Record<string, string> = {}): Promise<Buffer> {
  const sent = request(url, { method: 'POST', headers: keyed('k', headers), agent: false });
  const answered = once(
    sent.on('error', () => undefined),
    'response',
  ) as Promise<[IncomingMessage]>;
  for (const piece of pieces) await Promise.race([answered, new Promise(resolve => sent.write(piece, resolve))]);
  sent.end();
  return buffer((await answered)[0]);
}

const bytes = (size: number): Buffer =>
  Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));

const times = (count: number, size: number): Buffer[] => Array.from({ length: count }, () => bytes(size));
const bodies: [title: string, pieces: Buffer[]][] = [
  ['1 byte', times(1, 1)],
  ['2,500 pieces of one byte', times(2_500, 1)],
  ['300 KB', times(3, 100_000)],
  ['1 MiB and a byte', times(1, 1_048_577)],
  ['5 MB', times(50, 100_000)],
];

const readingWhen = (req: IncomingMessage, size?: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('readable', () => {
      for (let chunk; (chunk = req.read(size) as Buffer | null) !== null;) {
        chunks.push(chunk);
        if (size === undefined) return;
      }
    });
    req.on('error', reject).on('end', () => {
      // All but the last have as many bytes as were wanted.
      const isExact = chunks.slice(0, -1).every(({ length }) => size === undefined || length === size);
      resolve(isExact ? Buffer.concat(chunks) : Buffer.from('other sizes'));
    });
  });

const consumers: [title: string, consume: (req: IncomingMessage) => Promise<Buffer>][] = [
  ['for await', async req => Buffer.concat(await req.toArray())],
  [
    'a slow pipe',
    req => {
      const slow = new PassThrough({ highWaterMark: 1_000 });
      setImmediate(() => req.pipe(slow));
      return buffer(slow);
    },
  ],
  ['a web stream', req => buffer(Readable.toWeb(req) as AsyncIterable<Uint8Array>)],
  ['one read() for each event', req => readingWhen(req)],
  ['read(70,000)', req => readingWhen(req, 70_000)],
];

describe('a body', () => {
  const rows = bodies.flatMap(([size, pieces]) => consumers.map(([by, consume]) => ({ size, pieces, by, consume })));
  it.each(rows)('of $size is received, and read again by $by', async ({ pieces, consume }) => {
    const all = Buffer.concat(pieces);
    const { url } = await guarded({ maxRequestBytes: 50_000_000 }, async (req, res) => res.end(await consume(req)));
    const answer = await post(url, pieces, all.length % 2 ? { 'Content-Length': String(all.length) } : {});
    expect(answer.equals(all)).toBe(true);
  });

  it.each<[string, number, Buffer[], Record<string, string>?]>([
    ['that declares its length', 100, [bytes(101)], { 'Content-Length': '101' }],
    ['that does not', 100, [bytes(101)]],
    ['of many megabytes on disk', 5_000_000, times(80, 100_000)],
  ])(
    '%s and is over the limit is refused with 413, and the client can read the answer',
    async (_title, ...[maxRequestBytes, pieces, headers]) => {
      const { url, runs } = await guarded({ maxRequestBytes });
      expect(JSON.parse(String(await post(url, pieces, headers)))).toMatchObject({
        type: 'urn:bindonce:body-too-large',
        status: 413,
        detail: `The request body is larger than ${maxRequestBytes} bytes.`,
      });
      expect(runs()).toBe(0);
    },
  );

  it('in chunks is refused at the first byte over the limit, before its client has sent the rest', async () => {
    const { url } = await guarded({ maxRequestBytes: 100 });
    const sent = request(url, { method: 'POST', headers: keyed('k'), agent: false }).on('error', () => undefined);
    sent.write(bytes(101));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    sent.destroy();
  });

  it('from disk cannot be decoded by node, and the error says what to do', async () => {
    const { url } = await guarded({}, (req, res) => {
      expect(() => req.setEncoding('utf8')).toThrow('or read it by express.text()');
      res.end('told');
    });
    expect(String(await post(url, [bytes(1_048_577)]))).toBe('told');
  });

  it.each(['content-length', 'transfer-encoding'])('counts although a middleware has removed its %s', async name => {
    const remove: RequestHandler = (req, _res, next) => next(void Reflect.deleteProperty(req.headers, name));
    const { post } = await guarded({}, (req, res) => req.pipe(res), { before: [remove] });
    const headers: Record<string, string> = name === 'content-length' ? {} : { 'Transfer-Encoding': 'chunked' };
    for (const body of ['one', 'another']) expect((await post({ headers, body })).text).toBe(body);
  });
});

/** Reads the body, and leaves something behind. */
const leaving =
  (leave: (body: Buffer) => object): RequestHandler =>
  (req, _res, next) =>
    void buffer(req).then(body => next(void Object.assign(req, leave(body))));

class Upload extends dto({ title: optional(string), note: optional(string), scan: optional(file) }) {}
const bound = bindRequest(Upload, { allowFormData: { urlEncoded: true } }) as unknown as RequestHandler;
const guards = [idempotency(), bound];
const upload = (title: string, scan: string | Buffer = 'scan', boundary = 'b1') => {
  const file = { name: 'scan', filename: 'a.txt', value: scan };
  return multipart([{ name: 'title', value: title }, file], boundary);
};

/** What bindRequest() makes of a request, behind a parser or idempotency(). */
async function boundBehind(before: RequestHandler, sent: Asked): Promise<string> {
  const act: Run = ({ dto: made }, res) => {
    const { title, note, scan } = made as Upload;
    return res.json([title, note, scan?.size]);
  };
  return (await (await guarded(before, act, { behind: [bound] })).post(sent)).text;
}

it.each([10, 3_000_000])(
  'a form with a file of %d bytes behind idempotency() is bound by bindRequest()',
  async size => {
    expect(await boundBehind(idempotency(), upload('Ü', bytes(size)))).toBe(`["Ü",null,${size}]`);
  },
);

describe('a body that an earlier middleware has read', () => {
  const left: [string, (body: Buffer) => object][] = [
    ['the bytes in req.rawBody', body => ({ rawBody: body })],
    ['the bytes in req.rawBody beside a req.body', body => ({ rawBody: body, body: {} })],
    ['the bytes in req.body', body => ({ body })],
    ['a Uint8Array', body => ({ body: new Uint8Array(body) })],
    ['an ArrayBuffer', body => ({ body: new Uint8Array(body).buffer })],
    ['text in req.body', body => ({ body: body.toString() })],
    ['an object in req.body', body => ({ body: { text: body.toString() } })],
  ];
  it.each(left)('counts by %s', async (_title, leave) => {
    const [a, b] = [typed('text/plain', 'a'), typed('text/plain', 'b')];
    expect(await runsOf([a, b], {}, { before: [leaving(leave)] })).toBe('1 2');
  });

  it.each(left.slice(1, 5))('and that is a form counts, and is bound, by %s', async (_title, leave) => {
    const before = [leaving(leave)];
    expect(await runsOf([upload('é'), upload('é', 'scan', 'b2'), upload('è')], {}, { before })).toBe('1 1 2');
    expect(await boundBehind(leaving(leave), upload('é'))).toBe('["é",null,4]');
  });

  const asText = /left a multipart form in req\.body as text.*Mount bindonce before.*req\.rawBody/;
  const ofOthers = /req\.files holds files that multer has not made\. Mount bindonce before .* or use multer/;
  const files = { scan: { name: 'a.txt', size: 4, data: Buffer.from('scan') } };
  it.each<[what: string, (body: Buffer) => object, told: RegExp]>([
    ['text', body => ({ body: String(body) }), asText],
    ['files of another parser than multer', () => ({ body: { title: 'a' }, files }), ofOthers],
  ])('and that is a form is an error that says what to do where it was left as %s', async (_what, leave, told) => {
    for (const guard of guards) {
      const { answerTo, runs } = await countingService(guard, { before: [leaving(leave)] });
      expect([await answerTo(upload('a')), runs()]).toEqual([expect.stringMatching(told), 0]);
    }
  });

  it('and that is a form is bound where it was left as URLSearchParams; as another collection, it is an error', async () => {
    const parsed = leaving(body => ({ body: new URLSearchParams(String(body)) }));
    expect(await boundBehind(parsed, form('title=a&note=b'))).toBe('["a","b",null]');
    const asMap = leaving(() => ({ body: new Map([['title', 'a']]) }));
    const { answerTo } = await countingService(bound, { before: [asMap] });
    const told = 'req.body holds the form as a Map, whose values bindRequest() cannot read';
    for (const sent of [form('title=a'), upload('a')]) expect(await answerTo(sent)).toContain(told);
  });

  it('is an empty form of multer', async () => {
    expect(await runsOf([multipart([], 'b1'), multipart([], 'b2')], {}, { before: [multer().any()] })).toBe('1 1');
  });

  it('is an empty object, also if nobody has said how long it is', async () => {
    const chunked = typed('application/json', '{}', { 'Transfer-Encoding': 'chunked' });
    expect(await runsOf([chunked, chunked, typed('application/json', '{"a":1}')], {}, { before: [json()] })).toBe(
      '1 1 2',
    );
  });

  const drain = leaving(() => ({}));
  const readers: [what: string, RequestHandler][] = [
    ['has read it', drain],
    ['listens to its data', (req, _res, next) => (req.on('data', () => undefined), next())],
    ['has paused it half-way', (req, _res, next) => req.once('data', () => (req.pause(), next()))],
    ['has let it flow for a while', (req, _res, next) => (req.resume(), setImmediate(next))],
    ['has called req.setEncoding()', (req, _res, next) => (req.setEncoding('utf8'), next())],
  ];
  it.each(
    expressVersions.flatMap(([name, version]) => [
      ...readers.map(([what, reader]) => ({ name, version, what, before: [reader] })),
      // On Express 4, express.json() leaves `{}` for every body that it does not read.
      { name, version, what: 'has read it behind express.json', before: [version.urlencoded(), drain] },
    ]),
  )(
    'and of which nothing is left is an error that says what to do, never an empty body: one $what, on $name',
    async ({ version, before }) => {
      for (const guard of guards) {
        const { answerTo } = await countingService(guard, { version, before: before as RequestHandler[] });
        const sent = typed('application/json', `{"a":"${'x'.repeat(300_000)}"}`, { 'Transfer-Encoding': 'chunked' });
        expect(await answerTo(sent)).toMatch(
          /the request body was read before this middleware.*Mount it before.*req\.rawBody/,
        );
      }
    },
  );
});

describe('files that multer has written in front of idempotency()', () => {
  const directory = new TemporaryDirectory();
  afterAll(() => {
    directory.remove();
  });
  const left = (): string[] => readdirSync(directory.path);
  const photo = (filename: string) => multipart([{ name: 'photo', filename, value: 'one' }], 'b1');

  it('are removed for a replay, a key that is reused and one in flight; those of the run stay', async () => {
    const [running, mayEnd] = [signal(), signal()];
    const { post } = await guarded(
      { whenInFlight: 'reject', whenKeyReused: 'reject' },
      async (req, res) => {
        running.happens();
        await mayEnd.happened;
        res.send(basename(req.file?.path ?? ''));
      },
      { before: [multer({ dest: directory.path }).single('photo')] },
    );
    const slow = post(photo('a.png'));
    await running.happened;
    expect((await post(photo('a.png'))).status).toBe(409);
    mayEnd.happens();
    const { text } = await slow;
    expect((await post(photo('a.png'))).headers['idempotent-replayed']).toBe('true');
    expect((await post(photo('b.png'))).status).toBe(422);
    while (left().length > 1) await turn();
    expect(left()).toEqual([text]);
  });

  it('stay under a name that the application has chosen: the first request may have stored its file there', async () => {
    const storage = multer.diskStorage({
      destination: directory.path,
      filename: (_req, { originalname }, done) => done(null, originalname),
    });
    const { post } = await guarded({}, undefined, { before: [multer({ storage }).single('photo')] });
    for (let round = 0; round < 2; round++) await post(photo('a.png'));
    expect(left()).toContain('a.png');
  });
});
