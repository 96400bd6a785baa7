import { type } from 'arktype';
import express from 'express';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  bindRequest,
  dto,
  field,
  fromBody,
  fromClaim,
  fromForm,
  fromHeader,
  fromQuery,
  list,
  long,
  nullable,
  optional,
  queryParam,
  queryValue,
  string,
  type AnyType,
  type Claims,
  type ParseResult,
  type UploadedFile,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** What three libraries make of the same words: a count from text or a number, a line with such a count, an order with lists. */
interface Schemas {
  readonly count: AnyType;
  readonly line: AnyType;
  readonly order: AnyType;
}

const zodCount = z.coerce.number().int();
const valibotCount = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer());
const arkCount = type('string.integer.parse | number.integer');

const libraries: readonly [name: string, schemas: Schemas][] = [
  [
    'zod',
    {
      count: zodCount,
      line: z.object({ sku: z.string(), quantity: zodCount }),
      order: z.object({ items: z.array(z.object({ sku: z.string(), tags: z.array(z.string()).optional() })) }),
    },
  ],
  [
    'valibot',
    {
      count: valibotCount,
      line: v.object({ sku: v.string(), quantity: valibotCount }),
      order: toStandardJsonSchema(
        v.object({ items: v.array(v.object({ sku: v.string(), tags: v.optional(v.array(v.string())) })) }),
      ),
    },
  ],
  [
    'arktype',
    {
      count: arkCount,
      line: type({ sku: 'string', quantity: arkCount }),
      order: type({ items: type({ sku: 'string', 'tags?': 'string[]' }).array() }),
    },
  ],
];

interface From extends Sent {
  readonly user?: Claims;
}
type Where = Readonly<Record<'name' | 'in' | 'pointer', string>> | Readonly<Record<'name' | 'in', string>>;

const line = { sku: 'tea', quantity: 2 };
const asText = encodeURIComponent;

/** Where a type can stand: what is sent and bound, what is sent and refused, and where the refusal points. */
const places = (
  of: Schemas,
): readonly [where: string, Dto: AnyType, sent: From, value: unknown, wrong: From, at: Where][] => {
  class Inner extends dto({ n: of.count }) {}
  return [
    [
      'a property, in JSON',
      class extends dto({ n: of.count }) {},
      { json: { n: 2 } },
      { n: 2 },
      { json: { n: 'x' } },
      { name: 'n', in: 'json', pointer: '/n' },
    ],
    [
      'a property, in a query',
      class extends dto({ n: queryParam(of.count) }) {},
      { path: '/?N=2' },
      { n: 2 },
      { path: '/?n=x' },
      { name: 'n', in: 'query' },
    ],
    [
      'a header',
      class extends dto({ n: fromHeader(of.count, { name: 'X-N' }) }) {},
      { headers: { 'x-n': '2' } },
      { n: 2 },
      { headers: { 'x-n': 'x' } },
      { name: 'X-N', in: 'header' },
    ],
    [
      'a claim that is a number',
      class extends dto({ n: fromClaim(of.count) }) {},
      { user: { n: 2 } },
      { n: 2 },
      { user: { n: 2.5 } },
      { name: 'n', in: 'claim', pointer: '' },
    ],
    [
      'a claim that is an object',
      class extends dto({ l: fromClaim(of.line) }) {},
      { user: { l: line } },
      { l: line },
      { user: { l: { sku: 'tea', quantity: 'x' } } },
      { name: 'l', in: 'claim', pointer: '' },
    ],
    [
      'a list, in a query',
      class extends dto({ n: list(of.count) }) {},
      { path: '/?n=1,2' },
      { n: [1, 2] },
      { path: '/?n=1&n=x' },
      { name: 'n[1]', in: 'query' },
    ],
    [
      'optional',
      class extends dto({ n: optional(of.count) }) {},
      { json: {} },
      {},
      { json: { n: 'x' } },
      { name: 'n', in: 'json', pointer: '/n' },
    ],
    [
      'nullable',
      class extends dto({ n: nullable(of.count) }) {},
      { json: { n: null } },
      { n: null },
      { json: { n: 'x' } },
      { name: 'n', in: 'json', pointer: '/n' },
    ],
    [
      'a nested dto of a query',
      class extends dto({ q: fromQuery(class extends dto({ in: Inner }) {}) }) {},
      { path: '/?in.n=2' },
      { q: { in: { n: 2 } } },
      { path: '/?in.n=x' },
      { name: 'in.n', in: 'query' },
    ],
    [
      'fromBody',
      class extends dto({ l: fromBody(of.line), n: queryParam(of.count) }) {},
      { json: line, path: '/?n=2' },
      { l: line, n: 2 },
      { json: { quantity: 1, sku: 1 }, path: '/?n=2' },
      { name: 'sku', in: 'json', pointer: '/sku' },
    ],
    [
      'fromQuery',
      class extends dto({ l: fromQuery(of.line) }) {},
      { path: '/?sku=tea&quantity=2' },
      { l: line },
      { path: '/?sku=tea&quantity=x' },
      { name: 'quantity', in: 'query' },
    ],
    [
      'fromForm',
      class extends dto({ l: fromForm(of.line) }) {},
      {
        form: [
          ['sku', 'tea'],
          ['quantity', '2'],
        ],
      },
      { l: line },
      {
        multipart: [
          ['sku', 'tea'],
          ['quantity', 'x'],
        ],
      },
      { name: 'quantity', in: 'form' },
    ],
    [
      'the place of the whole dto',
      of.line,
      { json: line, path: '/?quantity=9' },
      line,
      { json: { sku: 'tea', quantity: 'x' } },
      { name: 'quantity', in: 'json', pointer: '/quantity' },
    ],
    [
      'a list that is the whole dto',
      list(of.line),
      { json: [line] },
      [line],
      { json: [line, { sku: 'tea', quantity: 'x' }] },
      { name: '[1].quantity', in: 'json', pointer: '/1/quantity' },
    ],
  ];
};

describe.each(libraries)('a schema of %s', (_library, schemas) => {
  const tried = ({ user, ...sent }: From, Dto: AnyType) =>
    bind(Dto, sent, { ...urlEncoded, route: '/{:n}', ...(user && { user }) });

  it.each(places(schemas))('stands in %s', async (_where, Dto, sent, value, wrong, at) => {
    expect((await tried(sent, Dto)).dto).toEqual(value);
    const { status, errors } = await tried(wrong, Dto);
    expect({ status, errors }).toEqual({ status: 400, errors: [{ ...at, detail: expect.any(String) as string }] });
  });

  it('has issues with paths, which are names and pointers', async () => {
    class Placed extends dto({ order: schemas.order }) {}
    class Asked extends dto({ order: fromQuery(schemas.order) }) {}
    const order = { items: [{ sku: 'a' }, { sku: 1, tags: ['x', 2] }] };
    const placed = async (sent: Sent, Dto: AnyType = Placed) =>
      (await bind(Dto, sent)).errors.map(({ name, pointer }) => [name, pointer]);
    expect(await placed({ json: { order } })).toEqual([
      ['order.items[1].sku', '/order/items/1/sku'],
      ['order.items[1].tags[1]', '/order/items/1/tags/1'],
    ]);
    expect(await placed({ path: `/?order=${asText(JSON.stringify(order))}` })).toEqual([
      ['order.items[1].sku', '/items/1/sku'],
      ['order.items[1].tags[1]', '/items/1/tags/1'],
    ]);
    expect(await placed({ path: '/?items[0].sku=a&items[1].tags=x' }, Asked)).toEqual(
      expect.arrayContaining([['items[1].sku', undefined]]),
    );
  });

  it('is read at once: queryValue() reads it, alone and in a list', async () => {
    const app = express().get('/', (req, res) => {
      res.json([
        queryValue(req, 'n', schemas.count),
        queryValue(req, 'all', list(schemas.count)),
        queryValue(req, 'bad', schemas.count, { required: false }) ?? null,
      ]);
    });
    expect((await ask(app, { method: 'GET', path: '/?n=2&all=1,2&bad=x' })).text).toBe('[2,[1,2],null]');
  });
});

describe('what is missing', () => {
  const missing: readonly [what: string, schemas: readonly AnyType[], value: unknown][] = [
    [
      'may be, where the schema says so',
      [z.string().optional(), v.optional(v.string()), type('string | undefined')],
      undefined,
    ],
    [
      'is the default of the schema',
      [z.string().default('d'), v.optional(v.string(), 'd'), type('string | undefined').pipe(text => text ?? 'd')],
      'd',
    ],
    [
      'is what the schema makes of it',
      [
        z.preprocess(value => value ?? 'd', z.string()),
        v.pipe(
          v.unknown(),
          v.transform(value => value ?? 'd'),
        ),
      ],
      'd',
    ],
  ];

  it.each(missing)('%s', async (_what, schemas, value) => {
    for (const schema of schemas) {
      class One extends dto({ v: schema }) {}
      class Outer extends dto({ in: One }) {}
      expect((await bind(One, { json: {} })).dto?.v).toEqual(value);
      expect((await bind(One, { method: 'GET' })).dto?.v).toEqual(value);
      expect((await bind(Outer, { json: { in: {} } })).dto?.in).toEqual(value === undefined ? {} : { v: value });
      expect((await bind(class extends dto({ c: fromClaim(schema), h: fromHeader(schema) }) {})).dto).toEqual(
        value === undefined ? {} : { c: value, h: value },
      );
    }
  });

  it.each<[string, AnyType]>([
    ['zod', z.string()],
    ['zod, made text', z.coerce.string()],
    ['valibot', v.string()],
    ['arktype', type('string')],
  ])('is required by all other schemas: %s', async (_library, schema) => {
    class One extends dto({ v: schema }) {}
    expect((await bind(One, { json: {} })).errors).toEqual([
      { name: 'v', in: 'json', pointer: '/v', detail: 'A value is required.' },
    ]);
    expect((await bind(One, { method: 'GET' })).errors).toEqual([
      { name: 'v', in: 'query', detail: 'This query parameter is required.' },
    ]);
    expect((await bind(schema)).errors).toEqual([
      { name: '', in: 'json', pointer: '', detail: 'A JSON body is required.' },
    ]);
  });

  it('is not asked of the schema where the property says that it is not required', async () => {
    class Loose extends dto({
      a: optional(z.string()),
      b: field(v.string(), { required: false }),
      c: field(type('string'), { default: 'c' }),
    }) {}
    expect((await bind(Loose, { json: {} })).dto).toEqual({ c: 'c' });
  });
});

describe('null in JSON', () => {
  it.each<[string, AnyType]>([
    ['zod', z.string().nullable()],
    ['valibot', v.nullable(v.string())],
    ['arktype', type('string | null')],
  ])('is a value for a schema that takes it: %s', async (_library, schema) => {
    class One extends dto({ v: schema }) {}
    class Loose extends dto({ v: field(schema, { required: false }) }) {}
    for (const Dto of [One, Loose])
      expect((await bind<typeof One | typeof Loose>(Dto, { json: { v: null } })).dto).toEqual({ v: null });
    expect((await bind(schema, { json: 'null' })).dto).toBeNull();
  });

  it('is a failure for any other', async () => {
    class One extends dto({ v: z.string() }) {}
    expect((await bind(One, { json: { v: null } })).errors).toMatchObject([{ name: 'v', in: 'json', pointer: '/v' }]);
  });
});

it.each<[string, AnyType]>([
  ['zod', z.string().transform(text => text.length)],
  [
    'valibot',
    v.pipe(
      v.string(),
      v.transform(text => text.length),
    ),
  ],
  ['arktype', type('string').pipe(text => text.length)],
])('the output of a schema is the value: %s', async (_library, schema) => {
  class Lengths extends dto({ one: schema, all: list(schema), asked: queryParam(schema) }) {}
  expect((await bind(Lengths, { json: { one: 'abc', all: ['a', 'ab'] }, path: '/?asked=abcd' })).dto).toEqual({
    one: 3,
    all: [1, 2],
    asked: 4,
  });
});

describe('a schema gets text', () => {
  class Anything extends dto({ v: queryParam(z.any()) }) {}
  class Point extends dto({ v: queryParam(z.object({ x: z.number() })) }) {}
  class Points extends dto({ v: queryParam(toStandardJsonSchema(v.array(v.object({ x: v.number() })))) }) {}
  class Words extends dto({ v: queryParam(type('string[]')) }) {}
  class Loose extends dto({ v: queryParam(optional(z.string())) }) {}

  it.each<[string, AnyType, string, unknown]>([
    ['as a string', Anything, 'v=a', 'a'],
    ['as a string, where it is a number', Anything, 'v=1', '1'],
    ['as the empty string', Anything, 'v=', ''],
    ['as the empty string, where a value may be missing', Loose, 'v=', ''],
    ['as an array of strings, where there are several', Anything, 'v=a&v=b', ['a', 'b']],
    ['that looks like JSON as text, if it takes it', Anything, 'v={"x":1}', '{"x":1}'],
    ['that it refuses as the JSON that it holds', Point, 'v={"x":1}', { x: 1 }],
    ['with white space around the JSON', Point, 'v= {"x":1} ', { x: 1 }],
    ['as a JSON array', Points, 'v=[{"x":1}]', [{ x: 1 }]],
    ['as JSON objects with commas between them', Points, 'v={"x":1},{"x":2}', [{ x: 1 }, { x: 2 }]],
    ['as a JSON array of strings', Words, 'v=["a","b"]', ['a', 'b']],
  ])('%s', async (_what, Dto, query, value) => {
    expect((await bind(Dto, { method: 'GET', path: `/?${query.replace(/[^=&]*$/, asText)}` })).dto).toEqual({
      v: value,
    });
  });

  it.each<[string, string | undefined, string]>([
    ['{"x":"1"}', '/x', 'v.x'],
    ['[1]', '', 'v'],
    ['{"x":', undefined, 'v'],
    ['x', undefined, 'v'],
    ['', undefined, 'v'],
  ])('and refuses %j where it says', async (text, pointer, name) => {
    const { errors } = await bind(Point, { method: 'GET', path: `/?v=${asText(text)}` });
    expect(errors.map(error => [error.name, error.in, error.pointer])).toEqual([[name, 'query', pointer]]);
  });
});

it.each<[string, AnyType, From]>([
  [
    'JSON text in a query',
    class extends dto({ p: queryParam(z.object({})), name: string }) {},
    { json: {}, path: '/?p=[1]' },
  ],
  ['a claim', class extends dto({ p: fromClaim(z.object({})), name: string }) {}, { json: {}, user: { p: 5 } }],
])('a refusal in %s does not hide values that are missing in the body', async (_where, Dto, { user, ...sent }) => {
  expect((await bind(Dto, sent, user ? { user } : {})).errors.map(({ name }) => name).sort()).toEqual(['name', 'p']);
});

describe('names that go below a schema', () => {
  class Asked extends dto({ all: fromQuery(z.any()) }) {}
  class Sent extends dto({ all: fromForm(z.any()) }) {}

  it.each<[string, string, unknown]>([
    ['objects', 'a.b=1&a[c]=2', { a: { b: '1', c: '2' } }],
    ['arrays, in index order', 'l[1]=y&l[0]=x', { l: ['x', 'y'] }],
    ['arrays of objects', 'l[1].a=y&l[0].a=x', { l: [{ a: 'x' }, { a: 'y' }] }],
    ['arrays without an index', 'm[]=1&m[]=2', { m: ['1', '2'] }],
    ['arrays of repeated values', 'n=1&n=2', { n: ['1', '2'] }],
    ['an empty object where there are none', '', {}],
  ])('are %s', async (_what, names, value) => {
    expect((await bind(Asked, { method: 'GET', path: `/?${names}` })).dto).toEqual({ all: value });
    expect((await bind(Sent, { form: names }, urlEncoded)).dto).toEqual({ all: value });
  });

  it('hold the files of a form', async () => {
    const photo = z.custom<UploadedFile>(
      value => (value as Partial<UploadedFile> | undefined)?.mimetype === 'image/png',
    );
    class Upload extends dto({ all: fromForm(z.object({ title: z.string(), photos: z.array(photo) })) }) {}
    class Flat extends dto({ photo, photos: z.array(photo) }) {}
    const png = (name: string, type = 'image/png') => ['photos', new File(['x'], name, { type })] as const;
    const { dto: bound } = await bind(Upload, { multipart: [['title', 't'], png('a.png'), png('b.png')] }, urlEncoded);
    expect(bound?.all.photos.map(({ originalname }) => originalname)).toEqual(['a.png', 'b.png']);
    expect(
      (await bind(Upload, { multipart: [['title', 't'], png('a.png'), png('b.gif', 'image/gif')] }, urlEncoded)).errors,
    ).toMatchObject([{ name: 'photos[1]', in: 'form' }]);
    const { dto: flat } = await bind(
      Flat,
      { multipart: [['photo', new File(['x'], 'c.png', { type: 'image/png' })], png('a.png'), png('b.png')] },
      urlEncoded,
    );
    expect([flat?.photo.originalname, flat?.photos.length]).toEqual(['c.png', 2]);
  });

  it('are names like any other, those of JavaScript objects too', async () => {
    const { dto: bound } = await bind(Asked, {
      method: 'GET',
      path: '/?__proto__.polluted=1&constructor[prototype][polluted]=1',
    });
    expect(['polluted' in {}, Object.getPrototypeOf(bound?.all)]).toEqual([false, Object.prototype]);
  });
});

it('numbers are plain numbers, even if other properties need exact ones', async () => {
  class Exact extends dto({ free: z.any(), all: list(z.number()), asked: queryParam(z.array(z.number())), id: long }) {}
  const { dto: bound } = await bind(Exact, {
    json: '{"id":9007199254740993,"all":[1.50],"free":{"n":1.50,"big":12345678901234567890,"list":[1e3,"1"],"no":null}}',
    path: '/?asked=[1.0]',
  });
  expect(bound).toEqual({
    id: 9007199254740993n,
    all: [1.5],
    asked: [1],
    free: { n: 1.5, big: 12345678901234567000, list: [1000, '1'], no: null },
  });
});

describe('an asynchronous schema', () => {
  const reserved = async (name: string): Promise<boolean> => {
    // The longer a name, the later the answer.
    for (let turn = 0; turn < name.length; turn++) await nextTurn();
    return name !== 'taken';
  };
  const libraries: readonly [library: string, free: AnyType][] = [
    ['zod', z.string().refine(reserved, 'It is taken.')],
    ['valibot', v.pipeAsync(v.string(), v.checkAsync(reserved, 'It is taken.'))],
  ];
  const failure = (name: string, source: string, pointer?: string) => ({
    name,
    in: source,
    ...(pointer !== undefined && { pointer }),
    detail: 'It is taken.',
  });

  describe.each(libraries)('of %s', (_library, free) => {
    class One extends dto({ v: free }) {}
    class Several extends dto({
      a: free,
      in: One,
      all: list(free),
      nested: list(One),
      asked: queryParam(free),
      header: fromHeader(list(free)),
      q: fromQuery(class extends dto({ below: list(One) }) {}),
    }) {}
    const several = (name: string): Sent => ({
      json: { a: name, in: { v: name }, all: ['x', name], nested: [{ v: 'x' }, { v: name }] },
      path: `/?asked=${name}&below[0].v=x&below[1].v=${name}`,
      headers: { header: `x, ${name}` },
    });

    it('is awaited in every place', async () => {
      expect((await bind(Several, several('free'))).dto).toEqual({
        a: 'free',
        in: { v: 'free' },
        all: ['x', 'free'],
        nested: [{ v: 'x' }, { v: 'free' }],
        asked: 'free',
        header: ['x', 'free'],
        q: { below: [{ v: 'x' }, { v: 'free' }] },
      });
      expect((await bind(free, { json: '"free"' })).dto).toBe('free');
      expect((await bind(list(free), { json: ['a', 'free'] })).dto).toEqual(['a', 'free']);
    });

    it('reports where the value stood, all of them in one answer', async () => {
      const { errors } = await bind(Several, several('taken'));
      expect(errors).toHaveLength(7);
      expect(errors).toEqual(
        expect.arrayContaining([
          failure('a', 'json', '/a'),
          failure('in.v', 'json', '/in/v'),
          failure('all[1]', 'json', '/all/1'),
          failure('nested[1].v', 'json', '/nested/1/v'),
          failure('asked', 'query'),
          failure('header[1]', 'header'),
          failure('below[1].v', 'query'),
        ]),
      );
      expect((await bind(free, { json: '"taken"' })).errors).toEqual([failure('', 'json', '')]);
    });

    it('a value that is overwritten must be valid all the same', async () => {
      expect((await bind(One, { json: { v: 'taken' }, path: '/?v=b' })).errors).toEqual([failure('v', 'json', '/v')]);
    });

    it('queryValue() cannot wait for it, and says so', async () => {
      const { status, response } = await bind(
        One,
        { path: '/?v=a' },
        {
          before: [
            (req, _res, next) => {
              queryValue(req, 'v', free);
              next();
            },
          ],
        },
      );
      expect([status, response.text]).toEqual([
        500,
        'queryValue: the type of "v" is read asynchronously; bind it with bindRequest().',
      ]);
    });
  });

  it('is asked about a missing value too', async () => {
    class One extends dto({
      v: v.pipeAsync(v.optional(v.string(), 'taken'), v.checkAsync(reserved, 'It is taken.')),
    }) {}
    class Two extends dto({ v: v.pipeAsync(v.optional(v.string(), 'free'), v.checkAsync(reserved)) }) {}
    expect((await bind(Two, { json: {} })).dto).toEqual({ v: 'free' });
    expect((await bind(One, { json: {} })).status).toBe(400);
  });
});

describe('a schema that fails', () => {
  const custom = (validate: () => unknown): AnyType => ({
    '~standard': { version: 1, vendor: 'custom', validate: validate as () => { value: unknown } },
  });
  const down = new Error('directory is down');
  const throwing = (): never => {
    throw down;
  };
  const later = custom(() => nextTurn().then(() => Promise.reject(down)));
  const thenable = { then: (_kept: unknown, broken: (error: Error) => void) => void broken(down) };
  class Throwing {
    static tryParse(): ParseResult<Throwing> {
      throw new Error('tryParse threw');
    }
  }

  it.each<[string, AnyType]>([
    ['throws', custom(throwing)],
    ['rejects', custom(() => Promise.reject(down))],
    ['rejects later', later],
    ['rejects with what is merely like a promise', custom(() => thenable)],
    ['is of zod', z.any().transform(throwing)],
    ['is of valibot', v.pipe(v.any(), v.transform(throwing))],
    ['is of arktype', type('unknown').pipe(throwing)],
  ])("is the application's error in every place: it %s", async (_how, schema) => {
    class One extends dto({ v: schema }) {}
    for (const [Dto, sent] of [
      [One, { json: { v: 1 } }],
      [One, { path: '/?v={}' }],
      [One, { json: {} }],
      [schema, { json: 1 }],
      [class extends dto({ all: list(schema), n: long }) {}, { json: { all: [1, 2], n: 'x' } }],
      [class extends dto({ in: One }) {}, { json: { in: {} } }],
      [class extends dto({ all: fromQuery(schema) }) {}, { path: '/?a=1' }],
    ] as [AnyType, Sent][]) {
      const { status, response, dto: bound } = await bind(Dto, sent);
      expect([status, response.text, bound]).toEqual([500, 'directory is down', undefined]);
    }
  });

  it.each<[string, AnyType, Sent, string]>([
    [
      'another property throws',
      class extends dto({ v: later, boom: queryParam(Throwing) }) {},
      { json: { v: 1 }, path: '/?boom=1' },
      'tryParse threw',
    ],
    [
      'several reject',
      class extends dto({ a: later, all: list(later) }) {},
      { json: { a: 1, all: [1, 2] } },
      down.message,
    ],
    ['it is overwritten', class extends dto({ v: later }) {}, { json: { v: 1 }, path: '/?v=1' }, down.message],
  ])('leaves no rejection unhandled when %s', async (_when, Dto, sent, message) => {
    const { status, response } = await bind(Dto, sent);
    // Jest fails a test during which a rejection is left unhandled.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect([status, response.text]).toEqual([500, message]);
  });
});

describe('the answer is bounded', () => {
  const far = 'x'.repeat(100_000);
  class Records extends dto({ v: z.record(z.string(), z.number()) }) {}
  class Strict extends dto({ v: z.strictObject({}) }) {}
  class Wordy extends dto({ v: z.string().refine(() => false, far) }) {}

  it.each<[string, AnyType, Sent]>([
    ['a long message', Wordy, { json: { v: 'a' } }],
    ['a long record key', Records, { json: { v: { [far]: 'a' } } }],
    ['a long key in JSON text', Records, { form: [['v', JSON.stringify({ [far]: 'a' })]] }],
    ['a long key in a message', Strict, { json: { v: { [far]: 1 } } }],
    ['a long key of escapes', Records, { json: { v: { ['~'.repeat(100_000)]: 'a' } } }],
  ])('for %s', async (_what, Dto, sent) => {
    const { status, response, errors } = await bind(Dto, sent, urlEncoded);
    expect([status, errors.length]).toEqual([400, 1]);
    expect(response.text.length).toBeLessThan(3_000);
    expect(errors[0]?.name).toMatch(/^v/);
  });

  it("three hundred characters of a schema's message are repeated", async () => {
    expect((await bind(Wordy, { json: { v: 'a' } })).errors).toEqual([
      { name: 'v', in: 'json', pointer: '/v', detail: 'x'.repeat(300) },
    ]);
  });

  it('for a thousand issues', async () => {
    class Many extends dto({ v: z.array(z.string()) }) {}
    expect((await bind(Many, { json: { v: Array.from({ length: 1_000 }, () => 1) } })).errors).toHaveLength(100);
  });

  it.each<[string, AnyType, (json: string) => Sent]>([
    ['a property', class extends dto({ v: z.any() }) {}, json => ({ json: `{"v":${json}}` })],
    ['the whole dto', z.any(), json => ({ json })],
    ['JSON text in a form', class extends dto({ v: z.object({}) }) {}, json => ({ form: [['v', json]] })],
  ])('for JSON that is 100,000 arrays deep, in %s', async (_where, Dto, sent) => {
    expect((await bind(Dto, sent('['.repeat(100_000) + ']'.repeat(100_000)), urlEncoded)).status).toBe(400);
  });
});

it('`~` and `/` in the key of a record are escaped in the pointer (RFC 6901)', async () => {
  class Records extends dto({ v: z.record(z.string(), z.number()) }) {}
  expect((await bind(Records, { json: { v: { 'a/b~c': 'x' } } })).errors).toMatchObject([
    { name: 'v.a/b~c', pointer: '/v/a~1b~0c' },
  ]);
});

it.each<[string, AnyType]>([
  ['zod', z.object({ sku: z.string(), at: z.date() })],
  ['valibot', v.object({ sku: v.string(), at: v.date() })],
  ['arktype', type({ sku: 'string', at: 'Date' })],
])('a response that is declared by a schema of %s is written as it is', async (_library, schema) => {
  class View extends dto({ line: schema, all: list(schema), id: long }) {}
  const value = { sku: 'tea', at: new Date(0), more: 1 };
  const app = express();
  app.get('/alone', bindRequest(z.any(), { responses: { 200: schema } }), (_req, res) => {
    res.json(value);
  });
  app.get('/inside', bindRequest(z.any(), { responses: { 200: View } }), (_req, res) => {
    res.json({ line: value, all: [value], id: 9007199254740993n, more: 1 });
  });
  const answers = await Promise.all(
    ['/alone', '/inside'].map(async path => (await ask(app, { method: 'GET', path })).text),
  );
  expect(answers).toEqual([
    JSON.stringify(value),
    `{"line":${JSON.stringify(value)},"all":[${JSON.stringify(value)}],"id":9007199254740993}`,
  ]);
});

describe('a schema of an array as a query parameter', () => {
  class Tagged extends dto({ tags: queryParam(z.array(z.string())) }) {}
  const inQuery = (query: string, items = 3) =>
    bind(Tagged, { method: 'GET', path: `/?${query}` }, { limits: { items } });

  it.each<[string, string, string[]]>([
    ['one value', 'tags=a', ['a']],
    ['one comma-separated value', 'tags=a,b', ['a', 'b']],
    ['repeated names', 'tags=a&tags=b,c', ['a', 'b,c']],
    ['a JSON array', 'tags=["a","b,c"]', ['a', 'b,c']],
    ['one name with brackets', 'tags[]=a', ['a']],
    ['names with brackets', 'tags[]=a&Tags[]=b', ['a', 'b']],
    ['one index', 'tags[0]=a', ['a']],
    ['indexes, in their order', 'tags[1]=b&tags[0]=a', ['a', 'b']],
    ['the highest index', 'tags[2]=a', ['a']],
  ])('is read from %s', async (_shape, query, tags) => {
    expect((await inQuery(query)).dto).toEqual({ tags });
  });

  it('has no index over limits.items', async () => {
    expect((await inQuery('tags[3]=a&tags[0]=b')).errors).toEqual([
      { name: 'tags', in: 'query', detail: 'The index 3 is too high; 3 items are allowed.' },
    ]);
  });
});
