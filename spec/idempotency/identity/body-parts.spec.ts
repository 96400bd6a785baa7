import { parse } from 'node:querystring';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import multer from 'multer';
import { allDifferent, countingService, form, json, runsOf, typed } from '../../support/counting-service';
import { guarded, type Around, type Keyed as Asked } from '../../support/guarded';
import { multipart, type Part } from '../../support/multipart';

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

describe('of two multipart forms', () => {
  const photo = { name: 'photo', filename: 'ä.png', type: 'image/png', value: Buffer.alloc(3_000, 1) };
  const parts: readonly Part[] = [field('title', 'Grüße'), field('tag', 'a'), field('tag', 'b'), photo];
  const but = (changes: Partial<Part>, index = 3): Part[] =>
    parts.map((part, at) => (at === index ? { ...part, ...changes } : part));
  const upload = (filename: string, size: number): Part[] => [{ name: 'f', filename, value: Buffer.alloc(size, 'f') }];

  it.each<[string, readonly Part[], (readonly Part[])?]>([
    ['another boundary', parts],
    ['another boundary around two megabytes', upload('a', 2_000_000), upload('a', 2_000_000)],
    ['other bytes of the same size', but({ value: Buffer.alloc(3_000, 2) })],
    ['another media type of a file', but({ type: 'image/gif' })],
    ['a file input without a file', [...parts, noFile('f')]],
    ['fields of other names in another order', [...parts.slice(1), ...parts.slice(0, 1)]],
    ['half of an emoji, as a page cuts one off', but({ value: 'nice \ud83d' }, 0), but({ value: 'nice \ud83d' }, 0)],
    ['U+FFFD in the name of 2 MB', [file('f', 'caf\ufffd', BIG)], [file('f', 'caf\ufffd', BIG)]],
    ['a file of JSON', [jsonFile('doc', 'blob', '{"a":1}')], [jsonFile('doc', 'blob', '{"a":1}')]],
  ])('the second, with %s, is a duplicate', async (_what, ...[other, one = parts]) => {
    const requests = [multipart(one, 'one'), multipart(other, '----another-boundary-that-is-longer')];
    expect(await runsOf(requests)).toBe('1 1');
  });

  it('the second, with another name, size, field or value, is not a duplicate', async () => {
    const forms = [
      ...[parts, but({ filename: 'b.png' }), but({ filename: 'a/ä.png' }), but({ filename: 'ö.png' })],
      ...[but({ value: Buffer.alloc(2_999, 1) }), but({ value: Buffer.alloc(0) }), but({ name: 'picture' })],
      ...[but({ value: 'x' }, 0), but({ name: 'heading' }, 0), but({ name: '__proto__' }, 0), parts.slice(0, 3), []],
      [...parts, ...but({ filename: 'c.png' }).slice(3)],
      parts.map(part => (part.name === 'tag' ? { ...part, value: part.value === 'a' ? 'b' : 'a' } : part)),
      [{ name: 'photo', value: Buffer.alloc(3_000, 1) }],
      ...[upload('a', 2_000_000), upload('b', 2_000_000), upload('a', 2_000_001)],
      ...['1', '2'].map(value => [...upload('a', 2_000_000), field('a', value)]),
      // Half of a surrogate pair, which UTF-16 can have; the order of files and fields of one name; parts of another kind.
      ...[[halfPair('\ud83d')], [halfPair('\ud83e')]],
      ...[
        [file('f', 'a', '1'), file('f', 'b', '1')],
        [file('f', 'b', '1'), file('f', 'a', '1')],
      ],
      ...[[file('f', 'a', '1')], [field('f', 'a'), field('f', '1')]],
      ...[
        [field('a', '1'), jsonFile('a', 'blob', '2')],
        [jsonFile('a', 'blob', '2'), field('a', '1')],
      ],
      ...[[nameless('a', '10')], [nameless('a', '99')], [field('a', '1')], [field('a', '1'), nameless('b', '10')]],
      ...[[noFile('a', '10')], [noFile('a', '99')]],
    ].map(one => multipart(one, 'b'));
    expect(await runsOf(forms)).toBe(allDifferent(forms));
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
const asForm = typed('multipart/form-data; boundary=b1', '{}');

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
  const CONTROLS = '\x01'.repeat(100_000_000);
  const arrayWith = (more: object): unknown[] => Object.assign(['a'], { length: 2, ...more });
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
    ['a property of an array with as many', arrayWith({ 4294967295: '10' }), arrayWith({ 4294967295: '9999' })],
    ['a hole or null', arrayWith({ x: 1 }), ['a', null]],
    ['2 MB of text', { a: `${BIG}a` }, { a: `${BIG}b` }],
    ['text whose JSON is longer than any text may be', `${CONTROLS}a`, `${CONTROLS}b`],
    ['an object of another realm', runInNewContext('({"a":1})'), runInNewContext('({"a":2})')],
  ])('%s is another request when its content is another, and the same when it is not', async (_title, one, other) => {
    expect(await runsOf([asJson, asJson], {}, leaving({ body: one }, { body: other }))).toBe('1 2');
  });
});

describe('what a parser has made into an object is compared by its value:', () => {
  const members = [
    { a: [1, 2], b: 0 },
    { b: -0, a: [1, 2] },
    { a: [2, 1], b: 0 },
  ];
  it.each<[string, string, ...unknown[]]>([
    ['of JSON, the order of members and the sign of zero make no difference', '1 1 2', ...members],
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
    const { post } = await guarded({}, undefined, { before: [express.json()] });
    expect(JSON.parse((await post(nested(1_001))).text)).toMatchObject({
      status: 413,
      detail: 'The request body has objects or lists nested more than 1000 levels deep. Nest it less deeply.',
    });
  });
});

describe('with sameBody: json, a body of JSON', () => {
  const charge = '{"amount":4.50,"to":"Ann"}';
  const sameCharge = ' { "to": "\\u0041nn",\n"amount": 4.5 }';
  const reject = { sameBody: 'json', whenKeyReused: 'reject' } as const;
  const [JSON_TYPE, API] = ['application/json', 'application/vnd.api+json'] as const;
  const zipped = { 'Content-Encoding': 'gzip' };

  it.each<[string, Asked, Asked]>([
    ['JSON', json(charge), json(sameCharge)],
    ['a type that ends with +json', typed(API, charge), typed(API, sameCharge)],
    [
      'JSON with a charset',
      typed(`${JSON_TYPE}; charset=utf-8`, charge),
      typed(`${JSON_TYPE}; charset=UTF-8`, sameCharge),
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
    ['is no UTF-8', json(Buffer.from([0x22, 0xff, 0x22])), json(Buffer.from([0x22, 0xff, 0x22, 0x20]))],
    [
      'is said to be in UTF-16',
      typed(`${JSON_TYPE}; charset=utf-16`, '1.0'),
      typed(`${JSON_TYPE}; charset=utf-16`, '1'),
    ],
    ['is said to be text', typed('text/plain', '{"a":1}'), typed('text/plain', '{"a": 1}')],
    ['is compressed', typed(JSON_TYPE, gzipSync('1.0'), zipped), typed(JSON_TYPE, gzipSync('1'), zipped)],
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
