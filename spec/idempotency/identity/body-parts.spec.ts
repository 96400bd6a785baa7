import { parse } from 'node:querystring';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import multer from 'multer';
import { idempotency } from '../../../lib';
import { countingService, form, json, runsOf, typed, type Around, type Asked } from '../../support/counting-service';
import { send } from '../../support/listen';
import { multipart, type Part } from '../../support/multipart';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

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

const formsOf = (...forms: Part[][]): Asked[] => forms.map(parts => multipart(parts, 'b1'));
const multipartText = (body: string | Buffer, type = 'multipart/form-data; boundary=b1'): Asked => typed(type, body);

describe('a multipart form', () => {
  it.each<[string, Part[]]>([
    ['with half of an emoji, as a page cuts one off,', [field('a', 'nice \ud83d')]],
    ['of 2 MB with a file name that contains U+FFFD', [field('a', '1'), file('f', 'caf\ufffd.txt', BIG)]],
    ['with a file of JSON', [field('a', '1'), jsonFile('doc', 'blob', '{"a":1}')]],
  ])('%s with another boundary is a duplicate', async (_title, parts) => {
    expect(await runsOf([multipart(parts, 'b1'), multipart(parts, '----another-boundary')])).toBe('1 1');
  });

  it.each<[string, Part[], Part[]]>([
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
    expect(await runsOf(formsOf(one, other))).toBe('1 2');
  });
});

describe('an urlencoded form', () => {
  const long = 'x'.repeat(262_140);

  it('is compared by its fields, in any order; one of more than 256 KiB by its bytes', async () => {
    const shorter = long.slice(10);
    expect(await runsOf([form(`a=1&b=${shorter}`), form(`b=${shorter}&a=1`)])).toBe('1 1');
    expect(await runsOf([form(`a=1&b=${long}`), form(`b=${long}&a=1`), form(`a=%31&b=${long}`)])).toBe('1 2 3');
  });
});

/** A parser that reads the body before us leaves these on requests, in turn. */
function leaving(...left: readonly object[]): Around {
  let next = 0;
  const parser: RequestHandler = (req, _res, done) =>
    void req.resume().on('end', () => done(void Object.assign(req, left[next++ % left.length])));
  return { before: [parser] };
}
const asJson = json('{}');
const asForm = multipartText('{}');

it.each<[string, (file: object) => object]>([
  ['multer().any()', file => ({ body: {}, files: [file] })],
  ['multer().single()', file => ({ body: {}, file })],
])(
  'a file that %s has left, of another name, size or field, is another request; of another media type, the same',
  async (_by, leave) => {
    const left = (changes: object = {}): object => {
      const one = { fieldname: 'scan', originalname: 'a.png', size: 3, mimetype: 'image/png', ...changes };
      return leave({ ...one, buffer: Buffer.alloc(one.size) });
    };
    const others = [{ originalname: 'b.png' }, { size: 4 }, { fieldname: 'photo' }, { mimetype: 'image/gif' }];
    expect(await runsOf(Array<Asked>(5).fill(asForm), {}, leaving(left(), ...others.map(left)))).toBe('1 2 3 4 1');
  },
);

describe('a body that a parser has made into', () => {
  const holes = (at: number): unknown => {
    const t: unknown[] = [];
    t[at] = 'x';
    return { t };
  };
  it.each<[string, unknown, unknown]>([
    ['NaN or null', { a: NaN }, { a: null }],
    ['undefined or nothing', { a: undefined }, {}],
    ['what querystring makes', parse('a=1'), parse('a=2')],
    ['an array with four billion holes', holes(4_294_967_294), holes(4_294_967_293)],
    [
      'a property of an array that has as many holes',
      Object.assign(['a'], { 4294967295: '10', length: 2 }),
      Object.assign(['a'], { 4294967295: '9999', length: 2 }),
    ],
    ['a hole or null', Object.assign(['a'], { x: 1, length: 2 }), ['a', null]],
    ['2 MB of text', { a: `${BIG}a` }, { a: `${BIG}b` }],
    [
      'text whose JSON is longer than any text may be',
      `${'\x01'.repeat(100_000_000)}a`,
      `${'\x01'.repeat(100_000_000)}b`,
    ],
    ['an object of another realm', runInNewContext('({"a":1})'), runInNewContext('({"a":2})')],
  ])('%s is another request when its content is another, and the same when it is not', async (_title, one, other) => {
    expect(await runsOf([asJson, asJson], {}, leaving({ body: one }, { body: other }))).toBe('1 2');
  });
});

describe('what a parser has made into an object is compared by its value:', () => {
  it.each<[string, string, ...unknown[]]>([
    [
      'of JSON, the order of members and the sign of zero make no difference',
      '1 1 2',
      { a: [1, 2], b: 0 },
      { b: -0, a: [1, 2] },
      { a: [2, 1], b: 0 },
    ],
    ['of a form, the order of its names makes none', '1 1', { a: '1', b: '2' }, { b: '2', a: '1' }],
    ['of querystring, too', '1 1', parse('a=1&b=2&a=3'), parse('b=2&a=1&a=3')],
    ['the order of the values of one name does', '1 2', { a: ['1', '2'] }, { a: ['2', '1'] }],
    ['that of one name of a form in two cases, too', '1 2', { a: '1', A: '2' }, { A: '2', a: '1' }],
    ['and of one name of a form in two spellings', '1 2', { a: { x: '1' }, 'a.x': '2' }, { 'a.x': '2', a: { x: '1' } }],
  ])('%s', async (title, expected, ...left) => {
    for (const sent of title.startsWith('of JSON') ? [asJson] : [form('x'), asForm]) {
      const around = leaving(...left.map(body => ({ body })));
      expect(await runsOf(Array<Asked>(left.length).fill(sent), {}, around)).toBe(expected);
    }
  });
});

describe('a body that a parser has left', () => {
  class Money {
    readonly #amount = 1;
    get amount(): number {
      return this.#amount;
    }
  }

  it.each<[string, unknown, string]>([
    ['a FormData', new FormData(), 'an instance of FormData'],
    ['a Date', { a: new Date(1) }, 'an instance of Date'],
    ['an object with private fields', { price: new Money() }, 'an instance of Money'],
    ['an object that writes itself', { toJSON: () => 'x' }, 'a function'],
    ['a promise', Promise.resolve(1), 'a promise: await it first'],
  ])(
    'as %s is an error that names it and says what to do, and the handler does not run',
    async (_title, body, what) => {
      const { answerTo, runs } = await countingService({}, leaving({ body }));
      expect(await answerTo(asJson)).toBe(
        `idempotency: req.body holds ${what}, which is no JSON and cannot be compared. Mount idempotency() before the ` +
          'parser, or set req.rawBody to the bytes.',
      );
      expect(runs()).toBe(0);
    },
  );

  it('is a 413 if it is nested more than 1,000 levels deep; idempotency() before the parser accepts it', async () => {
    const nested = (levels: number): Asked => json(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    const behind = await countingService({}, { before: [express.json()] });
    const before = await countingService({}, { behind: [express.json()] });
    expect([await behind.answerTo(nested(1_000)), await before.answerTo(nested(1_001))]).toEqual(['1', '1']);
    const { url } = await serve(express().post('/', express.json(), idempotency()));
    const { headers = {}, body } = nested(1_001);
    expect(
      JSON.parse((await send(url, { headers: keyed('k', headers as Record<string, string>), body })).text),
    ).toMatchObject({
      status: 413,
      detail: 'The request body has objects or lists nested more than 1000 levels deep. Nest it less deeply.',
    });
  });
});

describe('with sameBody: json, a body of JSON', () => {
  const charge = '{"amount":4.50,"to":"Ann"}';
  const sameCharge = ' { "to": "\\u0041nn",\n"amount": 4.5 }';
  const reject = { sameBody: 'json', whenKeyReused: 'reject' } as const;

  it.each<[string, Asked, Asked]>([
    ['JSON', json(charge), json(sameCharge)],
    [
      'a type that ends with +json',
      typed('application/vnd.api+json', charge),
      typed('application/vnd.api+json', sameCharge),
    ],
    [
      'JSON with a charset',
      typed('application/json; charset=utf-8', charge),
      typed('application/json; charset=UTF-8', sameCharge),
    ],
    ['1 MiB', json(`["${'x'.repeat(1_048_567)}"     ]`), json(`["\\u0078${'x'.repeat(1_048_566)}"]`)],
  ])('that is written in another way is the same request: %s', async (_what, one, other) => {
    expect(await runsOf([one, other], reject)).toBe('1 1');
    expect(await runsOf([one, other], { sameBody: 'json' })).toBe('1 1');
  });

  it.each<[string, string]>([
    ['an amount', charge.replace('4.50', '4.51')],
    ['the 20th digit', charge.replace('4.50', '4.5000000000000000001')],
  ])('that has another value is another request: %s', async (_what, body) => {
    expect(await runsOf([json(charge), json(body)], reject)).toBe('1 422');
    expect(await runsOf([json(charge), json(body)], { sameBody: 'json' })).toBe('1 2');
  });

  it.each<[string, Asked, Asked]>([
    ['is longer than 1 MiB', json(`["${'x'.repeat(1_048_573)}"]`), json(`["${'x'.repeat(1_048_573)}" ]`)],
    ['has one name twice', json('{"a":1,"a":2}'), json('{"a":1, "a":2}')],
    ['is no UTF-8', json(Buffer.from([0x22, 0xff, 0x22])), json(Buffer.from([0x22, 0xff, 0x22, 0x20]))],
    [
      'is said to be in UTF-16',
      typed('application/json; charset=utf-16', '1.0'),
      typed('application/json; charset=utf-16', '1'),
    ],
    ['is said to be text', typed('text/plain', '{"a":1}'), typed('text/plain', '{"a": 1}')],
    [
      'is compressed',
      typed('application/json', gzipSync('1.0'), { 'Content-Encoding': 'gzip' }),
      typed('application/json', gzipSync('1'), { 'Content-Encoding': 'gzip' }),
    ],
  ])('is compared by its bytes where it %s', async (_what, one, other) => {
    expect(await runsOf([one, other], { sameBody: 'json' })).toBe('1 2');
  });
});

describe('with includeFileContents, a form', () => {
  const scan = (value: string, boundary = 'b1'): Asked =>
    multipart([field('a', '1'), { ...file('scan', 'a.png', value), type: 'image/png' }], boundary);

  it.each<[string, string, string]>([
    ['', 'abc', 'xyz'],
    [' of 2 MB', `${BIG}a`, `${BIG}b`],
  ])('with other bytes in a file of equal name and size%s is another request', async (_size, one, other) => {
    const sent = [scan(one), scan(one, 'b2'), scan(other)];
    for (const before of [[], [multer().any()]]) {
      expect(await runsOf(sent, { includeFileContents: true, whenKeyReused: 'reject' }, { before })).toBe('1 1 422');
      expect(await runsOf(sent, { includeFileContents: true }, { before })).toBe('1 1 2');
      expect(await runsOf(sent, { whenKeyReused: 'reject' }, { before })).toBe('1 1 1');
    }
  });

  it('whose file a storage has taken elsewhere is an error that says to mount idempotency() before multer', async () => {
    const storage: multer.StorageEngine = {
      _handleFile: (_req, { stream }, done) => void stream.resume().on('end', () => done(null, { size: 3 })),
      _removeFile: (_req, _file, done) => done(null),
    };
    const { answerTo, runs } = await countingService(
      { includeFileContents: true },
      { before: [multer({ storage }).any()] },
    );
    expect([await answerTo(scan('abc')), runs()]).toEqual([
      'idempotency: the file of the field "scan" cannot be read where multer has left it, and includeFileContents ' +
        'compares its bytes. Mount idempotency() before multer.',
      0,
    ]);
  });
});
