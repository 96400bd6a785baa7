import { type } from 'arktype';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  dto,
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
  type AnyType,
  type Claims,
  type UploadedFile,
} from '../../../lib';
import { type Sent } from '../../support/ask';
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
const line = { sku: 'tea', quantity: 2 };
const wrong = { sku: 'tea', quantity: 'x' };

/** Where a type can stand: what is sent and bound, what is sent and refused, and its source, name and pointer. */
const places = (of: Schemas): readonly (readonly [string, AnyType, From, unknown, From, string])[] => {
  const n = of.count;
  const Outer = dto({ in: dto({ n }) });
  // prettier-ignore
  return [
    ['a property, in JSON', dto({ n }), { json: { n: 2 } }, { n: 2 }, { json: { n: 'x' } }, 'json n /n'],
    ['a property, in a query', dto({ n: queryParam(n) }), { path: '/?N=2' }, { n: 2 }, { path: '/?n=x' }, 'query n'],
    ['a header', dto({ n: fromHeader(n) }), { headers: { n: '2' } }, { n: 2 }, { headers: { n: 'x' } }, 'header n'],
    ['a claim that is a number', dto({ n: fromClaim(n) }), { user: { n: 2 } }, { n: 2 }, { user: { n: 2.5 } }, 'claim n '],
    ['a claim that is an object', dto({ l: fromClaim(of.line) }), { user: { l: line } }, { l: line }, { user: { l: wrong } }, 'claim l '],
    ['a list, in a query', dto({ n: list(n) }), { path: '/?n=1,2' }, { n: [1, 2] }, { path: '/?n=1&n=x' }, 'query n[1]'],
    ['optional', dto({ n: optional(n) }), { json: {} }, {}, { json: { n: 'x' } }, 'json n /n'],
    ['nullable', dto({ n: nullable(n) }), { json: { n: null } }, { n: null }, { json: { n: 'x' } }, 'json n /n'],
    ['a nested dto of a query', dto({ q: fromQuery(Outer) }), { path: '/?in.n=2' }, { q: { in: { n: 2 } } }, { path: '/?in.n=x' }, 'query in.n'],
    ['fromBody', dto({ l: fromBody(of.line) }), { json: line }, { l: line }, { json: { quantity: 1, sku: 1 } }, 'json sku /sku'],
    ['fromQuery', dto({ l: fromQuery(of.line) }), { path: '/?sku=tea&quantity=2' }, { l: line }, { path: '/?sku=tea&quantity=x' }, 'query quantity'],
    ['fromForm', dto({ l: fromForm(of.line) }), { form: 'sku=tea&quantity=2' }, { l: line }, { multipart: 'sku=tea&quantity=x' }, 'form quantity'],
    ['the place of the whole dto', of.line, { json: line, path: '/?quantity=9' }, line, { json: wrong }, 'json quantity /quantity'],
    ['a list that is the whole dto', list(of.line), { json: [line] }, [line], { json: [line, wrong] }, 'json [1].quantity /1/quantity'],
  ];
};

describe.each(libraries)('a schema of %s', (_library, schemas) => {
  const tried = ({ user, ...sent }: From, Dto: AnyType) =>
    bind(Dto, sent, { ...urlEncoded, route: '/{:n}', ...(user && { user }) });

  it.each(places(schemas))('stands in %s', async (_where, Dto, sent, value, wrong, at) => {
    expect((await tried(sent, Dto)).dto).toEqual(value);
    const { status, errors } = await tried(wrong, Dto);
    expect([status, errors.map(one => [one.in, one.name, one.pointer].join(' ').trimEnd())]).toEqual([
      400,
      [at.trimEnd()],
    ]);
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
});

describe('names that go below a schema', () => {
  class Asked extends dto({ all: fromQuery(z.any()) }) {}

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
});
