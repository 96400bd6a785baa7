import { processorTime } from '../../support/processor-time';
import { parse } from 'node:querystring';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import multer from 'multer';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { multipart, type Part } from '../../support/multipart';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

async function served(
  options: IdempotencyOptions = {},
  before: readonly RequestHandler[] = [],
  behind: readonly RequestHandler[] = [],
) {
  const state = { runs: 0 };
  const { url } = await serve(
    express().post('/', ...before, idempotency(options), ...behind, (_req, res) => {
      res.json({ run: ++state.runs });
    }),
  );
  const post = (parts: readonly Part[], boundary = 'b1'): Promise<WireResponse> => {
    const { body, headers } = multipart(parts, boundary);
    return send(url, { headers: keyed('k', headers), body });
  };
  return { url, state, post };
}

const field = (name: string, value: string): Part => ({ name, value });
const file = (name: string, filename: string, value: string): Part => ({ name, filename, value });
const jsonFile = (name: string, filename: string, value: string): Part => ({
  ...file(name, filename, value),
  type: 'application/json',
});
const nameless = (name: string, value: string): Part => ({ name, type: 'application/octet-stream', value });
/** A field in UTF-16, in which half of a character arrives as it is. */
const halfPair = (value: string): Part => ({
  name: 'a',
  type: 'text/plain; charset=utf-16le',
  value: Buffer.from(value, 'utf16le'),
});
/** A part as a browser sends it for a file input without a file. */
const noFile = (name: string, value = ''): Part => ({ ...nameless(name, value), filename: '' });
const BIG = 'x'.repeat(2_000_000);
/** Each character is sent as the byte of its number: `\xff` is no UTF-8. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('a multipart form', () => {
  it.each<[string, Part[], Part[]]>([
    ['the bytes of a file of 2 MB', [file('f', 'a.txt', `${BIG}a`)], [file('f', 'a.txt', `${BIG}b`)]],
    ['the media type of a file', [file('f', 'a.txt', 'abc')], [{ ...file('f', 'a.txt', 'abc'), type: 'image/png' }]],
    ['whether there is a file input without a file', [field('a', '1')], [field('a', '1'), noFile('f')]],
  ])('that differs only in %s is a duplicate', async (_title, one, other) => {
    const { state, post } = await served();
    const first = await post(one);
    const second = await post(other);
    expect([first.text, second.text, state.runs]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it.each<[string, Part[]]>([
    ['with half of an emoji, as a page cuts one off,', [field('a', 'nice \ud83d')]],
    ['of 2 MB with a file name that contains U+FFFD', [field('a', '1'), file('f', 'caf\ufffd.txt', BIG)]],
    ['with a file of JSON', [field('a', '1'), jsonFile('doc', 'blob', '{"a":1}')]],
  ])('%s with another boundary is a duplicate', async (_title, parts) => {
    const { state, post } = await served();
    await post(parts, 'b1');
    expect((await post(parts, '----another-boundary')).headers['idempotent-replayed']).toBe('true');
    expect(state.runs).toBe(1);
  });

  it.each<[string, Part[], Part[]]>([
    ['a field called __proto__', [field('__proto__', '1')], [field('__proto__', '2')]],
    ['the directory of a file name', [file('f', 'a/x.txt', 'abc')], [file('f', 'b/x.txt', 'abc')]],
    ['a file name beyond ASCII', [file('f', 'ä.txt', 'abc')], [file('f', 'ö.txt', 'abc')]],
    [
      'a field beside a file of 2 MB',
      [file('f', 'a.txt', BIG), field('a', '1')],
      [file('f', 'a.txt', BIG), field('a', '2')],
    ],
    ['half of a surrogate pair, which UTF-16 can have', [halfPair('\ud83d')], [halfPair('\ud83e')]],
    [
      'the order of the files of one field',
      [file('f', 'a', '1'), file('f', 'b', '1')],
      [file('f', 'b', '1'), file('f', 'a', '1')],
    ],
    ['file or fields', [file('f', 'a', '1')], [field('f', 'a'), field('f', '1')]],
    [
      'the order of a field and a file of JSON of one name',
      [field('a', '1'), jsonFile('a', 'blob', '2')],
      [jsonFile('a', 'blob', '2'), field('a', '1')],
    ],
    ['bytes without a file name', [nameless('a', '10')], [nameless('a', '99')]],
    ['whether there are bytes without a file name', [field('a', '1')], [field('a', '1'), nameless('b', '10')]],
    ['bytes with an empty file name', [noFile('a', '10')], [noFile('a', '99')]],
  ])('that differs in %s is another request', async (_title, one, other) => {
    const { state, post } = await served();
    for (const parts of [one, other, one, other]) expect((await post(parts)).status).toBe(200);
    expect(state.runs).toBe(2);
  });

  it.each<[string, (byte: string) => string]>([
    ['a field value', byte => `Content-Disposition: form-data; name="a"\r\n\r\n${byte}`],
    ['a field name', byte => `Content-Disposition: form-data; name="a${byte}"\r\n\r\n1`],
    ['a file name', byte => `Content-Disposition: form-data; name="f"; filename="${byte}.txt"\r\n\r\nabc`],
    [
      'the name of the field of a file',
      byte => `Content-Disposition: form-data; name="f${byte}"; filename="a.txt"\r\n\r\nabc`,
    ],
    [
      'the name of the field of a file of 2 MB',
      byte => `Content-Disposition: form-data; name="f${byte}"; filename="a.txt"\r\n\r\n${BIG}`,
    ],
  ])(
    'that differs in which bytes that are no UTF-8 are in %s is another request, and the same bytes are the same one',
    async (_title, part) => {
      const { url, state } = await served();
      const headers = keyed('k', { 'Content-Type': 'multipart/form-data; boundary=b1' });
      for (const byte of ['\xff', '\xfe', '\xff', '\xfe'])
        expect((await send(url, { headers, body: bytes(`--b1\r\n${part(byte)}\r\n--b1--\r\n`) })).status).toBe(200);
      expect(state.runs).toBe(2);
    },
  );

  it('that is compressed is compared by its bytes', async () => {
    const { url, state } = await served();
    const { body, headers } = multipart([field('a', '1')], 'b1');
    const coded = { headers: keyed('k', { ...headers, 'Content-Encoding': 'gzip' }) };
    for (const level of [1, 1, 0])
      expect((await send(url, { ...coded, body: gzipSync(body, { level }) })).status).toBe(200);
    expect(state.runs).toBe(2);
  });

  it('takes no part where the body is ignored', async () => {
    const { state, post } = await served({ ignoreRequestBody: true });
    await post([field('a', '1')]);
    await post([file('f', 'a', 'x')]);
    expect(state.runs).toBe(1);
  });

  it.each<[string, string, string]>([
    ['no boundary', 'multipart/form-data', 'anything'],
    ['no end', 'multipart/form-data; boundary=b1', '--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'],
    [
      'a name that is too long to be measured',
      'multipart/form-data; boundary=b1',
      multipart([field('n'.repeat(1_001), '1')], 'b1').body.toString(),
    ],
    [
      'too many parts to be measured',
      'multipart/form-data; boundary=b1',
      `${'--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(100_001)}--b1--\r\n`,
    ],
  ])('with %s is compared by its bytes, and read by a parser that can read it', async (_title, type, body) => {
    const { url, state } = await served();
    const post = async (content: string, contentType = type): Promise<string> =>
      (await send(url, { headers: keyed('k', { 'Content-Type': contentType }), body: content })).text;
    expect([await post(body), await post(body), await post(`${body} `), await post(body, `${type}; a=b`)]).toEqual([
      '{"run":1}',
      '{"run":1}',
      '{"run":2}',
      '{"run":3}',
    ]);
    expect(state.runs).toBe(3);
  });
});

describe.each<[string, readonly RequestHandler[], readonly RequestHandler[]]>([
  ['before', [], [multer().any()]],
  ['behind', [multer().any()], []],
])('%s multer, a form with a file of JSON', (_place, before, behind) => {
  it.each<[string, Part, number]>([
    ['file', jsonFile('doc', 'x.json', '{"a":1}'), 1],
    ['file name', jsonFile('doc', 'y.json', '{"a":1}'), 2],
    ['field', jsonFile('data', 'x.json', '{"a":1}'), 2],
    ['content', jsonFile('doc', 'x.json', '{"a":2}'), 2],
    ['byte order mark', jsonFile('doc', 'x.json', '\ufeff{"a":1}'), 2],
    ['media type that says no JSON', file('doc', 'x.json', '{"a":1}'), 2],
    ['field of the same content instead', field('doc', '{"a":1}'), 2],
    ['field of the text that the file becomes in the key', field('doc', JSON.stringify(['x.json', 7, '{"a":1}'])), 2],
  ])('and one with another %s run apart unless they are equal', async (_what, other, expected) => {
    const { url, state } = await served({}, before, behind);
    for (const part of [jsonFile('doc', 'x.json', '{"a":1}'), other, jsonFile('doc', 'x.json', '{"a":1}')]) {
      const { body, headers } = multipart([field('a', '1'), part], 'b1');
      expect((await send(url, { headers: keyed('k', headers), body })).status).toBe(200);
    }
    expect(state.runs).toBe(expected);
  });
});

describe('an urlencoded form', () => {
  const type = 'application/x-www-form-urlencoded';
  const runsOf = async (...forms: readonly (string | Buffer)[]): Promise<number> => {
    const { url, state } = await served();
    for (const body of forms)
      expect((await send(url, { headers: keyed('k', { 'Content-Type': type }), body })).status).toBe(200);
    return state.runs;
  };
  const long = 'x'.repeat(262_140);

  it('is compared by its fields, in any order', async () => {
    expect(await runsOf(`a=1&b=${long.slice(10)}`, `b=${long.slice(10)}&a=1`)).toBe(1);
  });

  it('of more than 256 KiB is compared by its bytes', async () => {
    expect(await runsOf(`a=1&b=${long}`, `b=${long}&a=1`, `a=%31&b=${long}`, `a=1&b=${long}`)).toBe(3);
  });

  it.each<[string, Buffer]>([
    ['10 MiB of bytes that are no UTF-8', Buffer.alloc(10_485_760, 0xff)],
    [
      '256 KiB of fields of bytes that are no UTF-8',
      Buffer.alloc(260_000, Buffer.concat([Buffer.alloc(259, 0xff), Buffer.from('&')])),
    ],
  ])('of %s is read in five seconds of processor time', async (_what, body) => {
    const { url } = await served();
    const ms = await processorTime(async () => {
      expect((await send(url, { headers: keyed('k', { 'Content-Type': type }), body })).status).toBe(200);
    });
    expect(ms).toBeLessThan(5_000);
  });
});

/** What a parser that has read the body before us leaves on the request. */
type Left = Readonly<Record<string, unknown>>;

async function parsedBefore(type: string, ...left: readonly Left[]) {
  const seen = { runs: 0, errors: [] as string[], statuses: [] as number[] };
  let next = 0;
  const parser: RequestHandler = (req, _res, done) => {
    req.resume().on('end', () => {
      Object.assign(req, left[next++]);
      done();
    });
  };
  const onError: ErrorRequestHandler = (error: Error, _req, _res, done) => {
    seen.errors.push(error.message);
    done(error);
  };
  const { url } = await serve(
    express()
      .set('env', 'test')
      .post('/', parser, idempotency(), (_req, res) => {
        res.json({ run: ++seen.runs });
      })
      .use(onError),
  );
  for (let request = 0; request < left.length; request++)
    seen.statuses.push((await send(url, { headers: keyed('k', { 'Content-Type': type }), body: '{}' })).status);
  return seen;
}

type Upload = Readonly<Record<'field' | 'name' | 'type', string>> & { readonly size: number };
const parsers: [title: string, leave: (upload: Upload) => Left][] = [
  [
    'multer().any()',
    ({ field, name, type, size }) => ({
      body: {},
      files: [{ fieldname: field, originalname: name, size, mimetype: type, buffer: Buffer.alloc(size) }],
    }),
  ],
  [
    'multer().single()',
    ({ field, name, type, size }) => ({
      body: {},
      file: { fieldname: field, originalname: name, size, mimetype: type, buffer: Buffer.alloc(size) },
    }),
  ],
];
const UPLOAD: Upload = { field: 'scan', name: 'a.png', type: 'image/png', size: 3 };

describe.each(parsers)('a file that %s has left', (_parser, leave) => {
  it.each<[string, Partial<Upload>]>([
    ['name', { name: 'b.png' }],
    ['size', { size: 4 }],
    ['field', { field: 'photo' }],
  ])('of another %s is another request', async (_title, other) => {
    expect(
      await parsedBefore(
        'multipart/form-data; boundary=b1',
        leave(UPLOAD),
        leave({ ...UPLOAD, ...other }),
        leave(UPLOAD),
      ),
    ).toEqual({ runs: 2, errors: [], statuses: [200, 200, 200] });
  });

  it('of the same field, name and size is the same request', async () => {
    expect(
      (await parsedBefore('multipart/form-data; boundary=b1', leave(UPLOAD), leave({ ...UPLOAD, type: 'image/gif' })))
        .runs,
    ).toBe(1);
  });
});

describe('a body that a parser has made into', () => {
  it.each<[string, () => unknown, () => unknown]>([
    ['the sign of zero beside what is no JSON', () => ({ a: 0, b: NaN }), () => ({ a: -0, b: NaN })],
    ['NaN or null', () => ({ a: NaN }), () => ({ a: null })],
    ['undefined or nothing', () => ({ a: undefined }), () => ({})],
    ['where an array ends', () => [[1], 2], () => [[1, 2]]],
    ['what querystring makes', () => parse('a=1'), () => parse('a=2')],
    [
      'an array with four billion holes',
      () => {
        const t: unknown[] = [];
        t[4_294_967_294] = 'x';
        return { t };
      },
      () => {
        const t: unknown[] = [];
        t[4_294_967_293] = 'x';
        return { t };
      },
    ],
    [
      'a property of an array that has as many holes',
      () => Object.assign(['a'], { 4294967295: '10', length: 2 }),
      () => Object.assign(['a'], { 4294967295: '9999', length: 2 }),
    ],
    ['a hole or null', () => Object.assign(['a'], { x: 1, length: 2 }), () => ['a', null]],
    ['2 MB of text', () => ({ a: `${BIG}a` }), () => ({ a: `${BIG}b` })],
    [
      'text whose JSON is longer than any text may be',
      () => `${'\x01'.repeat(100_000_000)}a`,
      () => `${'\x01'.repeat(100_000_000)}b`,
    ],
  ])('%s is another request when its content is another, and the same when it is not', async (_title, one, other) => {
    const left = [one, other, one, other].map(make => ({ body: make() }));
    expect(await parsedBefore('application/json', ...left)).toEqual({
      runs: 2,
      errors: [],
      statuses: [200, 200, 200, 200],
    });
  });
});

describe('a form that a parser has made into an object', () => {
  const urlencoded = 'application/x-www-form-urlencoded';
  const form = 'multipart/form-data; boundary=b1';

  it.each<[string, () => unknown, () => unknown]>([
    ['its names', () => ({ a: '1', b: '2' }), () => ({ b: '2', a: '1' })],
    ['its names as querystring makes them', () => parse('a=1&b=2&a=3'), () => parse('b=2&a=1&a=3')],
  ])('is the same request if only the order of %s is another', async (_title, one, other) => {
    for (const type of [urlencoded, form])
      expect((await parsedBefore(type, { body: one() }, { body: other() })).runs).toBe(1);
    expect((await parsedBefore('application/json', { body: one() }, { body: other() })).runs).toBe(2);
  });

  it.each<[string, () => unknown, () => unknown]>([
    ['the values of one name', () => ({ a: ['1', '2'] }), () => ({ a: ['2', '1'] })],
    ['one name in two cases', () => ({ a: '1', A: '2' }), () => ({ A: '2', a: '1' })],
    ['one name in two spellings', () => ({ a: { x: '1' }, 'a.x': '2' }), () => ({ 'a.x': '2', a: { x: '1' } })],
  ])('is another request if the order of %s is another', async (_title, one, other) => {
    for (const type of [urlencoded, form])
      expect((await parsedBefore(type, { body: one() }, { body: other() })).runs).toBe(2);
  });
});

describe('a body that a parser has left', () => {
  class Money {
    readonly #amount = 1;
    get amount(): number {
      return this.#amount;
    }
  }

  it.each<[string, () => unknown, string]>([
    ['a FormData', () => new FormData(), 'an object of the class FormData'],
    ['a Date', () => ({ a: new Date(1) }), 'an object of the class Date'],
    ['an object with private fields', () => ({ price: new Money() }), 'an object of the class Money'],
    ['an object that writes itself', () => ({ toJSON: () => 'x' }), 'a function'],
    ['a promise', () => Promise.resolve(1), 'an object of the class Promise'],
  ])(
    'as %s is an error that names it and says what to do, and the handler does not run',
    async (_title, make, what) => {
      const { runs, errors, statuses } = await parsedBefore('application/json', { body: make() });
      expect([runs, statuses]).toEqual([0, [500]]);
      expect(errors).toEqual([
        expect.stringMatching(/req\.body holds .*Mount idempotency\(\) before the parser, or set req\.rawBody/),
      ]);
      expect(errors[0]).toContain(`holds ${what}`);
    },
  );

  it('is a 413 if it is nested more than 1,000 levels deep; idempotency() before the parser accepts it', async () => {
    const handler: RequestHandler = (_req, res) => void res.send('done');
    const app = express()
      .post('/behind', express.json(), idempotency(), handler)
      .post('/before', idempotency(), express.json(), handler);
    const { url } = await serve(app);
    const answerTo = async (path: string, levels: number): Promise<string> => {
      const headers = keyed(`${path} ${levels}`, { 'Content-Type': 'application/json' });
      return (await send(`${url}/${path}`, { headers, body: `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}` })).text;
    };
    expect([await answerTo('behind', 1_000), await answerTo('before', 1_001)]).toEqual(['done', 'done']);
    expect(JSON.parse(await answerTo('behind', 1_001))).toMatchObject({
      status: 413,
      detail: 'The request body has objects or lists nested more than 1000 levels deep. Nest it less deeply.',
    });
  });

  it('as an object of another realm is compared', async () => {
    expect(
      (
        await parsedBefore(
          'application/json',
          ...['{"a":1}', '{"a":2}', '{"a":1}'].map(json => ({ body: runInNewContext(`(${json})`) as unknown })),
        )
      ).runs,
    ).toBe(2);
  });

  it('beside exact bytes in req.rawBody may be anything', async () => {
    expect(await parsedBefore('application/json', { body: new FormData(), rawBody: Buffer.from('x') })).toEqual({
      runs: 1,
      errors: [],
      statuses: [200],
    });
  });
});
