import { once } from 'node:events';
import { request, type IncomingMessage, type RequestListener } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import express, { type Request } from 'express';
import { bindRequest, dto, field, file, idempotency, optional, Problem, string } from '../../lib';
import { receive as receiveNow } from '../../lib/body/receive';
import { countingService, runsOf } from '../support/counting-service';
import { expressVersions } from '../support/express-versions';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';
import { send } from '../support/listen';

/** What it throws at once, as a rejection. */
const receive = async (...given: Parameters<typeof receiveNow>) => receiveNow(...given);

/** Sends a body in pieces, each after the one before has left, unless the answer comes first. */
async function post(
  listener: RequestListener,
  pieces: readonly Buffer[],
  headers: Record<string, string> = {},
): Promise<Buffer> {
  const { url } = await serve(listener);
  const sent = request(url, { method: 'POST', headers, agent: false }).on('error', () => undefined);
  const answered = once(sent, 'response');
  for (const piece of pieces)
    await Promise.race([
      answered,
      new Promise(resolve => {
        sent.write(piece, resolve);
      }),
    ]);
  sent.end();
  const [response] = (await answered) as [IncomingMessage];
  return buffer(response);
}

const MANY = 50_000_000;
const bytes = (size: number): Buffer =>
  Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));

const bodies: [title: string, pieces: Buffer[]][] = [
  ['1 byte', [bytes(1)]],
  ['2,500 pieces of one byte', Array.from({ length: 2_500 }, () => bytes(1))],
  ['300 KB', [bytes(100_000), bytes(200_000)]],
  ['1 MiB and a byte', [bytes(1_048_577)]],
  ['5 MB', Array.from({ length: 50 }, () => bytes(100_000))],
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

const rows = bodies.flatMap(([size, pieces]) => consumers.map(([by, consume]) => ({ size, pieces, by, consume })));

describe('a body', () => {
  it.each(rows)('of $size is received, and read again by $by', async ({ pieces, consume }) => {
    const all = Buffer.concat(pieces);
    let same = false;
    const answer = await post(
      (req, res) => {
        void receive(req, res, MANY).then(async received => {
          if (received.kind === 'bytes') same = (await buffer(received.bytes.pieces())).equals(all);
          res.end(await consume(req));
        });
      },
      pieces,
      all.length % 2 ? { 'Content-Length': String(all.length) } : {},
    );
    expect(same).toBe(true);
    expect(answer.equals(all)).toBe(true);
  });

  const refused = async (
    pieces: readonly Buffer[],
    limit: number,
    headers?: Record<string, string>,
  ): Promise<unknown> => {
    let failure: unknown;
    const answer = await post(
      (req, res) => {
        receive(req, res, limit).then(
          () => res.end('read'),
          (error: unknown) => {
            failure = error;
            res.end('refused');
          },
        );
      },
      pieces,
      headers,
    );
    expect(String(answer)).toBe(failure === undefined ? 'read' : 'refused');
    return failure;
  };

  it.each<[string, number, number, Record<string, string>]>([
    ['that declares its length', 1, 100, { 'Content-Length': '101' }],
    ['that does not', 1, 100, {}],
    ['of many megabytes on disk', 80, 5_000_000, {}],
  ])(
    '%s and is over the limit is refused with 413, and the client can read the answer',
    async (_title, count, limit, headers) => {
      const failure = await refused(
        Array.from({ length: count }, () => bytes(count === 1 ? 101 : 100_000)),
        limit,
        headers,
      );
      expect(failure).toBeInstanceOf(Problem);
      expect(failure).toMatchObject({
        status: 413,
        code: 'body-too-large',
        message: `The request body is larger than ${limit} bytes.`,
      });
    },
  );

  it('in chunks is refused at the first byte over the limit, before its client has sent the rest', async () => {
    const { url } = await serve((req, res) => {
      receive(req, res, 100).catch(({ code }: Problem) => res.end(code));
    });
    const sent = request(url, { method: 'POST', agent: false }).on('error', () => undefined);
    const answered = once(sent, 'response');
    sent.write(bytes(101));
    const [response] = (await answered) as [IncomingMessage];
    expect(String(await buffer(response))).toBe('body-too-large');
    sent.destroy();
  });
});

describe('a body that an earlier middleware has read', () => {
  /** Reads the body and leaves something behind. */
  const drain =
    (leave: (req: Request, body: Buffer) => void): express.RequestHandler =>
    (req, _res, next) => {
      void buffer(req).then(body => {
        leave(req, body);
        next();
      });
    };
  const typed = ['a', 'b'].map(body => ({ headers: { 'Content-Type': 'text/plain' }, body }));

  it.each<[string, (body: Buffer) => object]>([
    ['the bytes in req.rawBody', body => ({ rawBody: body })],
    ['the bytes in req.rawBody beside a req.body', body => ({ rawBody: body, body: {} })],
    ['the bytes in req.body', body => ({ body })],
    ['text in req.body', body => ({ body: body.toString() })],
    ['an object in req.body', body => ({ body: { text: body.toString() } })],
  ])('counts by %s', async (_title, left) => {
    const before = [drain((req, body) => Object.assign(req, left(body)))];
    expect(await runsOf(typed, {}, { before })).toBe('1 2');
  });

  const readers: readonly (readonly [what: string, reader: express.RequestHandler])[] = [
    ['has read it', drain(() => undefined)],
    ['listens to its data', (req, _res, next) => (req.on('data', () => undefined), next())],
    ['has paused it half-way', (req, _res, next) => req.once('data', () => (req.pause(), next()))],
    ['has let it flow for a while', (req, _res, next) => (req.resume(), setImmediate(next))],
    ['has called req.setEncoding()', (req, _res, next) => (req.setEncoding('utf8'), next())],
  ];
  const guards = [idempotency(), bindRequest(dto({ a: optional(string) })) as unknown as express.RequestHandler];

  it.each(
    expressVersions.flatMap(([version, made]) => [
      ...readers.map(([what, reader]) => ({ version, made, what, before: [reader] })),
      // On Express 4, express.json() leaves `{}` for every body that it does not read.
      { version, made, what: 'has read it behind express.json', before: [made.urlencoded(), drain(() => undefined)] },
    ]),
  )(
    'and of which nothing is left is an error that says what to do, never an empty body: one $what, on $version',
    async ({ made, before }) => {
      for (const guard of guards) {
        const { answerTo } = await countingService(guard, {
          version: made,
          before: before as express.RequestHandler[],
        });
        const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
        expect(await answerTo({ headers, body: `{"a":"${'x'.repeat(300_000)}"}` })).toMatch(
          /the request body was read before this middleware.*Mount it before.*req\.rawBody/,
        );
      }
    },
  );
});

describe('a form behind idempotency()', () => {
  class Upload extends dto({ title: field(string), scan: field(file) }) {}

  it.each([10, 3_000_000])('with a file of %d bytes is bound by bindRequest()', async size => {
    const app = express().post(
      '/',
      idempotency(),
      bindRequest(Upload, { allowFormData: true }),
      (req, res) => void res.json({ title: req.dto.title, size: req.dto.scan.size }),
    );
    const { url } = await serve(app);
    const form = multipart(
      [
        { name: 'title', value: 'Ü' },
        { name: 'scan', filename: 's.png', value: bytes(size) },
      ],
      'b1',
    );
    expect(
      JSON.parse((await send(url, { headers: { 'Idempotency-Key': 'k', ...form.headers }, body: form.body })).text),
    ).toEqual({ title: 'Ü', size });
  });
});

it('a body from disk cannot be decoded by node, and the error says what to do', async () => {
  const answer = await post(
    (req, res) => {
      void receive(req, res, MANY).then(() => {
        expect(() => req.setEncoding('utf8')).toThrow('or read it by express.text()');
        res.end('told');
      });
    },
    [bytes(1_048_577)],
  );
  expect(String(answer)).toBe('told');
});

it.each(['content-length', 'transfer-encoding'])(
  'a body counts although a middleware has removed its %s',
  async name => {
    const app = express().use((req, _res, next) => {
      Reflect.deleteProperty(req.headers, name);
      next();
    });
    app.post('/', idempotency(), (req, res) => req.pipe(res));
    const headers = {
      'Idempotency-Key': 'k',
      ...(name === 'content-length' ? {} : { 'Transfer-Encoding': 'chunked' }),
    };
    const { url } = await serve(app);
    for (const body of ['one', 'another']) expect((await send(url, { headers, body })).text).toBe(body);
  },
);
