import { type } from 'arktype';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dto, field, fromBody, fromClaim, fromForm, fromHeader, fromQuery, list, long, nullable } from '../../../lib';
import { optional, queryParam } from '../../../lib';
import type { AnyType, Claims, UploadedFile } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, outcome, urlEncoded } from '../../support/one-endpoint';

/** What three libraries make of the same words: a count from text or a number, and a line with such a count. */
const zodCount = z.coerce.number().int();
const valibotCount = v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.integer());
const arkCount = type('string.integer.parse | number.integer');
const libraries: readonly [name: string, count: AnyType, line: AnyType][] = [
  ['zod', zodCount, z.object({ sku: z.string(), quantity: zodCount })],
  ['valibot', valibotCount, v.object({ sku: v.string(), quantity: valibotCount })],
  ['arktype', arkCount, type({ sku: 'string', quantity: arkCount })],
];

interface From extends Sent {
  readonly user?: Claims;
}
const line = { sku: 'tea', quantity: 2 };
const wrong = { sku: 'tea', quantity: 'x' };
const TEA = 'sku=tea&quantity=';
const bound = { l: line };

describe.each(libraries)('a schema of %s', (_library, n, of) => {
  const tried = ({ user, ...sent }: From, Dto: AnyType) =>
    bind<AnyType>(Dto, sent, { ...urlEncoded, ...(user && { user }) });

  /** Where it can stand: what is sent and bound, what is sent and refused, and its source, name and pointer. */
  it.each<[string, AnyType, From, unknown, From, string]>([
    ['a property, in JSON', dto({ n }), { json: { n: 2 } }, { n: 2 }, { json: { n: 'x' } }, 'json n /n'],
    ['a query', dto({ n: queryParam(n) }), { path: '/?N=2' }, { n: 2 }, { path: '/?n=x' }, 'query n'],
    ['a header', dto({ n: fromHeader(n) }), { headers: { n: '2' } }, { n: 2 }, { headers: { n: 'x' } }, 'header n'],
    ['a claim', dto({ n: fromClaim(n) }), { user: { n: 2 } }, { n: 2 }, { user: { n: 2.5 } }, 'claim n'],
    ['a claim', dto({ l: fromClaim(of) }), { user: bound }, bound, { user: { l: wrong } }, 'claim l'],
    ['a list', dto({ n: list(n) }), { path: '/?n=1,2' }, { n: [1, 2] }, { path: '/?n=1&n=x' }, 'query n[1]'],
    ['optional', dto({ n: optional(n) }), { json: {} }, {}, { json: { n: 'x' } }, 'json n /n'],
    ['nullable', dto({ n: nullable(n) }), { json: { n: null } }, { n: null }, { json: { n: 'x' } }, 'json n /n'],
    ['fromBody', dto({ l: fromBody(of) }), { json: line }, bound, { json: { quantity: 1, sku: 1 } }, 'json sku /sku'],
    ['fromQuery', dto({ l: fromQuery(of) }), { path: `/?${TEA}2` }, bound, { path: `/?${TEA}x` }, 'query quantity'],
    ['fromForm', dto({ l: fromForm(of) }), { form: `${TEA}2` }, bound, { form: `${TEA}x` }, 'form quantity'],
    ['the whole dto', of, { json: line, path: '/?quantity=9' }, line, { json: wrong }, 'json quantity /quantity'],
    ['a list', list(of), { json: [line] }, [line], { json: [line, wrong] }, 'json [1].quantity /1/quantity'],
  ])('stands in %s', async (_where, Dto, sent, value, refused, at) => {
    expect((await tried(sent, Dto)).dto).toEqual(value);
    const { status, errors } = await tried(refused, Dto);
    expect([status, errors.map(one => [one.in, one.name, one.pointer].join(' ').trimEnd())]).toEqual([400, [at]]);
  });
});

describe('what is missing', () => {
  const maybe = [z.string().optional(), v.optional(v.string()), type('string | undefined')];
  const orD = (value: unknown): unknown => value ?? 'd';

  it.each<[string, readonly AnyType[], unknown]>([
    ['may be, where the schema says so', maybe, undefined],
    ['is the default of the schema', [z.string().default('d'), v.optional(v.string(), 'd')], 'd'],
    ['is what the schema makes of it', [z.preprocess(orD, z.string()), v.pipe(v.unknown(), v.transform(orD))], 'd'],
  ])('%s', async (_what, schemas, value) => {
    const found = (names: string[]): object =>
      value === undefined ? {} : Object.fromEntries(names.map(name => [name, value]));
    for (const schema of schemas) {
      const One = dto({ v: schema });
      for (const sent of [{ json: {} }, { method: 'GET' }]) expect(await outcome(One, sent)).toEqual(found(['v']));
      expect(await outcome(dto({ in: One }), { json: { in: {} } })).toEqual({ in: found(['v']) });
      expect(await outcome(dto({ c: fromClaim(schema), h: fromHeader(schema) }))).toEqual(found(['c', 'h']));
    }
  });

  it.each<[string, AnyType]>([
    ['zod', z.string()],
    ['zod, made text', z.coerce.string()],
    ['valibot', v.string()],
    ['arktype', type('string')],
  ])('is required by all other schemas: %s', async (_library, schema) => {
    const One = dto({ v: schema });
    expect(await outcome(One, { json: {} })).toEqual(['json v: A value is required.']);
    expect(await outcome(One, { method: 'GET' })).toEqual(['query v: This query parameter is required.']);
    expect(await outcome(schema)).toEqual(['json : A JSON body is required.']);
  });
});

const inQuery = (Dto: AnyType, query: string): Promise<unknown> => outcome(Dto, { method: 'GET', path: `/?${query}` });
const Node = z.object({
  n: z.number(),
  get next() {
    return Node.optional();
  },
});
const Thing = z.object({ n: z.number() }).meta({ id: 'Api/Thing' });
const numbers = z.array(z.number());
const things = z.array(z.object({ n: z.number() }));
const eitherKind = [z.object({ k: z.literal('a'), n: z.number() }), z.object({ k: z.literal('b') })] as const;

describe('what a schema says that it takes decides how a text is read', () => {
  it.each<[string, AnyType, string, unknown]>([
    ['a number', z.number(), 'v=1.5', 1.5],
    ['a whole number with a rule', z.int().min(1), 'v=7', 7],
    ['a number of arktype', type('number'), 'v=2', 2],
    ['a number of valibot', toStandardJsonSchema(v.number()), 'v=3', 3],
    ['a boolean', z.boolean(), 'v=TRUE', true],
    ['a number or text: text', z.union([z.number(), z.string()]), 'v=5', '5'],
    ['a number or a boolean', z.union([z.number(), z.boolean()]), 'v=false', false],
    ['a constant', z.literal(5), 'v=5', 5],
    ['a nullable number', z.number().nullable(), 'v=5', 5],
    ['a number with a default', z.number().default(5), 'v=6', 6],
    ['a list', numbers, 'v=1,2', [1, 2]],
    ['a list of one', z.array(z.string()), 'v=a', ['a']],
    ['a list in JSON', numbers, 'v=[1,2]', [1, 2]],
    ['an object in JSON', z.object({ n: z.number() }), 'v={"n":1}', { n: 1 }],
    ['objects with commas between them', things, 'v={"n":1},{"n":2}', [{ n: 1 }, { n: 2 }]],
    ['one object for a list', things, 'v={"n":1}', [{ n: 1 }]],
    ['text or a list: text', z.union([z.string(), z.array(z.string())]), 'v=a,b', 'a,b'],
    ['a Date of zod, of which nothing is known', z.coerce.date(), 'v=2026-11-28', new Date('2026-11-28')],
    ['a schema without JSON Schema: text', v.pipe(v.string(), v.transform(Number)), 'v=5', 5],
    ['several texts are a list', numbers, 'v=1&v=2', [1, 2]],
    ['so are indexes, whose gaps are closed up', numbers, 'v[3]=2&v[1]=1', [1, 2]],
    ['several texts of which nothing is known are an array', z.any(), 'v=1&v=2', ['1', '2']],
  ])('%s', async (_what, schema, query, value) => {
    expect(await inQuery(dto({ v: queryParam(schema) }), query)).toEqual({ v: value });
  });

  it.each<[string, AnyType, string, unknown]>([
    ['names in any case', z.object({ Page: z.number() }), 'page=2', { Page: 2 }],
    ['below each other', z.object({ a: z.object({ b: z.boolean() }) }), 'a.b=true', { a: { b: true } }],
    ['a list of objects', z.object({ l: things }), 'l[0].n=1', { l: [{ n: 1 }] }],
    ['a record by indexes', z.object({ stock: z.record(z.string(), z.number()) }), 'stock[17]=2', { stock: { 17: 2 } }],
    ['one with a name, used twice', z.object({ x: Thing, y: Thing }), 'x.n=1&y.n=2', { x: { n: 1 }, y: { n: 2 } }],
    ['one that contains itself', Node, 'n=1&next.n=2', { n: 1, next: { n: 2 } }],
    ['a union by a discriminator', z.discriminatedUnion('k', eitherKind), 'k=a&n=1', { k: 'a', n: 1 }],
  ])('the names of a query: %s', async (_what, schema, query, value) => {
    expect(await inQuery(dto({ all: fromQuery(schema) }), query)).toEqual({ all: value });
  });

  it('an optional object is there when one of its own names is', async () => {
    const All = dto({ all: fromQuery(optional(z.object({ page: z.number().default(1) }))) });
    expect([await inQuery(All, 'utm_source=x'), await inQuery(All, 'page=2')]).toEqual([{}, { all: { page: 2 } }]);
  });

  it.each<[string, AnyType, string, string]>([
    ['too many', z.array(z.string()).max(2), 'v=a,b,c', 'v: Too big: expected array to have <=2 items'],
    ['an item', numbers, 'v=1,x', 'v[1]: Invalid input: expected number, received string'],
    ['gaps are closed up', numbers, 'v[2]=1&v[5]=x', 'v[1]: Invalid input: expected number, received string'],
    ['no number', z.number(), 'v=0x10', 'v: Invalid input: expected number, received string'],
  ])('the message is about what was meant: %s', async (_what, schema, query, message) => {
    expect(await inQuery(dto({ v: queryParam(schema) }), query)).toEqual([`query ${message}`]);
  });
});

describe('a schema is called once for one value', () => {
  let calls = 0;
  const counted = (schema: z.ZodType): AnyType => ({
    '~standard': {
      ...schema['~standard'],
      validate: value => {
        calls++;
        return schema['~standard'].validate(value);
      },
    },
  });
  const email = z.string().refine(() => Promise.resolve(true));
  const tags = z.array(z.string());

  it.each<[string, AnyType, string]>([
    ['names', dto({ f: fromQuery(counted(z.object({ email, tags }))) }), 'email=x&tags=a'],
    ['optional names', dto({ f: fromQuery(optional(counted(z.object({ tags })))) }), 'tags=1'],
    ['a list', dto({ f: queryParam(counted(z.array(email))) }), 'f=a'],
    ['JSON in text', dto({ f: queryParam(counted(z.object({ email }))) }), 'f={"email":"x"}'],
    ['text', dto({ f: field(counted(email)) }), 'f=x'],
  ])('%s', async (_what, Dto, query) => {
    calls = 0;
    expect(await bind<AnyType>(Dto, { method: 'GET', path: `/?${query}` })).toMatchObject({ status: 200 });
    expect(calls).toBe(1);
  });
});

describe('the files of a form', () => {
  const photo = z.custom<UploadedFile>(value => (value as Partial<UploadedFile> | undefined)?.mimetype === 'image/png');
  const png = (name: string, type = 'image/png') => ['photos', new File(['x'], name, { type })] as const;

  it('are values of a schema', async () => {
    class Upload extends dto({ all: fromForm(z.object({ title: z.string(), photos: z.array(photo) })) }) {}
    const title = ['title', 't'] as const;
    const { dto: bound } = await bind(Upload, { multipart: [title, png('a.png'), png('b.png')] }, urlEncoded);
    expect(bound?.all.photos.map(({ originalname }) => originalname)).toEqual(['a.png', 'b.png']);
    const wrong = [title, png('a.png'), png('b.gif', 'image/gif')];
    expect((await bind(Upload, { multipart: wrong }, urlEncoded)).errors).toMatchObject([
      { name: 'photos[1]', in: 'form' },
    ]);
    class Flat extends dto({ photo, photos: z.array(photo) }) {}
    const sent = [['photo', png('c.png')[1]] as const, png('a.png'), png('b.png')];
    const { dto: flat } = await bind(Flat, { multipart: sent }, urlEncoded);
    expect([flat?.photo.originalname, flat?.photos.length]).toEqual(['c.png', 2]);
  });

  it('are data where they are JSON and the schema takes data', async () => {
    const json = (value: unknown): File => new File([JSON.stringify(value)], 'a.json', { type: 'application/json' });
    const lineOf = z.object({ sku: z.string() });
    const doc = z.any().transform(sent => (sent as UploadedFile).originalname);
    const All = dto({ all: fromForm(z.object({ line: lineOf, lines: z.array(lineOf), doc })) });
    const sent = { line: json({ sku: 'a' }), lines: json([{ sku: 'b' }]), doc: json({}) };
    const all = { line: { sku: 'a' }, lines: [{ sku: 'b' }], doc: 'a.json' };
    expect(await outcome(All, { multipart: Object.entries(sent) })).toEqual({ all });
  });
});

it('names below a schema are names like any other, those of JavaScript objects too', async () => {
  const path = '/?__proto__.polluted=1&constructor[prototype][polluted]=1';
  const { dto: bound } = await bind(dto({ all: fromQuery(z.any()) }), { method: 'GET', path });
  expect(['polluted' in {}, Object.getPrototypeOf(bound?.all)]).toEqual([false, Object.prototype]);
});

const reserved = async (name: string): Promise<boolean> => {
  // The longer a name, the later the answer.
  for (let turn = 0; turn < name.length; turn++) await nextTurn();
  return name !== 'taken';
};

it.each<[library: string, free: AnyType]>([
  ['zod', z.string().refine(reserved, 'It is taken.')],
  ['valibot', v.pipeAsync(v.string(), v.checkAsync(reserved, 'It is taken.'))],
])('an asynchronous schema of %s reports where the value stood, all of them in one answer', async (_library, free) => {
  const One = dto({ v: free });
  class Several extends dto({
    ...{ a: free, in: One, all: list(free), nested: list(One) },
    ...{ asked: queryParam(free), header: fromHeader(list(free)), q: fromQuery(dto({ below: list(One) })) },
  }) {}
  const sent: Sent = {
    json: { a: 'taken', in: { v: 'taken' }, all: ['x', 'taken'], nested: [{ v: 'x' }, { v: 'taken' }] },
    path: `/?asked=taken&below[0].v=x&below[1].v=taken`,
    headers: { header: `x, taken` },
  };
  const places = ['json a', 'json in.v', 'json all[1]', 'json nested[1].v', 'query asked', 'header header[1]'];
  const refused = [...places, 'query below[1].v'].map(place => `${place}: It is taken.`);
  expect(((await outcome(Several, sent)) as string[]).sort()).toEqual(refused.sort());
  const [error] = (await bind(Several, sent)).errors.filter(({ name }) => name === 'nested[1].v');
  expect(error?.pointer).toBe('/nested/1/v');
  expect(await outcome(free, { json: '"taken"' })).toEqual(['json : It is taken.']);
});

describe("a schema that fails is the application's error in every place:", () => {
  const down = new Error('directory is down');
  const throwing = (): never => {
    throw down;
  };
  const custom = (validate: () => unknown): AnyType => ({
    '~standard': { version: 1, vendor: 'custom', validate: validate as () => { value: unknown } },
  });
  const thenable = { then: (_kept: unknown, broken: (error: Error) => void) => void broken(down) };

  it.each<[string, AnyType]>([
    ['throws', custom(throwing)],
    ['rejects', custom(() => Promise.reject(down))],
    ['rejects later', custom(() => nextTurn().then(() => Promise.reject(down)))],
    ['rejects with what is merely like a promise', custom(() => thenable)],
    ['is of zod', z.any().transform(throwing)],
    ['is of valibot', v.pipe(v.any(), v.transform(throwing))],
    ['is of arktype', type('unknown').pipe(throwing)],
  ])('it %s', async (_how, schema) => {
    const One = dto({ v: schema });
    for (const [Dto, sent] of [
      [One, { json: { v: 1 } }],
      [One, { path: '/?v={}' }],
      [One, { json: {} }],
      [schema, { json: 1 }],
      [dto({ all: list(schema), n: long }), { json: { all: [1, 2], n: 'x' } }],
      [dto({ in: One }), { json: { in: {} } }],
      [dto({ all: fromQuery(schema) }), { path: '/?a=1' }],
    ] as [AnyType, Sent][]) {
      const { status, response, dto: bound } = await bind<AnyType>(Dto, sent);
      expect([status, response.text, bound]).toEqual([500, 'directory is down', undefined]);
    }
  });
});
