import { type } from 'arktype';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, field, fromForm, fromQuery, optional, queryParam, type AnyType, type UploadedFile } from '../../../lib';
import { bind } from '../../support/one-endpoint';

const read = async (Dto: AnyType, query: string): Promise<unknown> => {
  const { status, dto: bound, errors } = await bind(Dto, { method: 'GET', path: `/?${query}` });
  return status === 200 ? bound : errors.map(({ name, detail }) => `${name}: ${detail}`);
};

const Node = z.object({
  n: z.number(),
  get next() {
    return Node.optional();
  },
});

const Thing = z.object({ n: z.number() }).meta({ id: 'Api/Thing' });

describe('what a schema says that it takes decides how a text is read', () => {
  it.each<[string, AnyType, string, unknown]>([
    ['a number', z.number(), '1.5', 1.5],
    ['a whole number with a rule', z.int().min(1), '7', 7],
    ['a number of arktype', type('number'), '2', 2],
    ['a number of valibot', toStandardJsonSchema(v.number()), '3', 3],
    ['a boolean', z.boolean(), 'TRUE', true],
    ['a number or text: text', z.union([z.number(), z.string()]), '5', '5'],
    ['a number or a boolean', z.union([z.number(), z.boolean()]), 'false', false],
    ['a constant', z.literal(5), '5', 5],
    ['a nullable number', z.number().nullable(), '5', 5],
    ['a number with a default', z.number().default(5), '6', 6],
    ['a list', z.array(z.number()), '1,2', [1, 2]],
    ['a list of one', z.array(z.string()), 'a', ['a']],
    ['a list in JSON', z.array(z.number()), '[1,2]', [1, 2]],
    ['a tuple', z.tuple([z.number(), z.string()]), '1,2', [1, '2']],
    ['an object in JSON', z.object({ n: z.number() }), '{"n":1}', { n: 1 }],
    ['objects with commas between them', z.array(z.object({ n: z.number() })), '{"n":1},{"n":2}', [{ n: 1 }, { n: 2 }]],
    ['one object for a list', z.array(z.object({ n: z.number() })), '{"n":1}', [{ n: 1 }]],
    ['text or a list: text', z.union([z.string(), z.array(z.string())]), 'a,b', 'a,b'],
    ['a Date of zod, of which nothing is known', z.coerce.date(), '2026-11-28', new Date('2026-11-28')],
    ['a schema without JSON Schema: text', v.pipe(v.string(), v.transform(Number)), '5', 5],
  ])('%s', async (_what, schema, text, value) => {
    expect(await read(dto({ v: queryParam(schema) }), `v=${encodeURIComponent(text)}`)).toEqual({ v: value });
  });

  it.each<[string, AnyType, string, unknown]>([
    ['several texts are a list', z.array(z.number()), 'v=1&v=2', [1, 2]],
    ['so are indexes, whose gaps are closed up', z.array(z.number()), 'v[3]=2&v[1]=1', [1, 2]],
    ['several texts of which nothing is known are an array', z.any(), 'v=1&v=2', ['1', '2']],
  ])('%s', async (_what, schema, query, value) => {
    expect(await read(dto({ v: queryParam(schema) }), query)).toEqual({ v: value });
  });

  it.each<[string, AnyType, string, unknown]>([
    ['names in any case', z.object({ Page: z.number() }), 'page=2', { Page: 2 }],
    ['below each other', z.object({ a: z.object({ b: z.boolean() }) }), 'a.b=true', { a: { b: true } }],
    ['a list of objects', z.object({ l: z.array(z.object({ n: z.int() })) }), 'l[0].n=1', { l: [{ n: 1 }] }],
    ['a record by indexes', z.object({ stock: z.record(z.string(), z.number()) }), 'stock[17]=2', { stock: { 17: 2 } }],
    ['one with a name, used twice', z.object({ x: Thing, y: Thing }), 'x.n=1&y.n=2', { x: { n: 1 }, y: { n: 2 } }],
    ['one that contains itself', Node, 'n=1&next.n=2&next.next.n=3', { n: 1, next: { n: 2, next: { n: 3 } } }],
    [
      'a union by a discriminator',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a'), n: z.number() }), z.object({ k: z.literal('b') })]),
      'k=a&n=1',
      { k: 'a', n: 1 },
    ],
  ])('the names of a query: %s', async (_what, schema, query, value) => {
    expect(await read(dto({ all: fromQuery(schema) }), query)).toEqual({ all: value });
  });

  it('an optional object is there when one of its own names is', async () => {
    const All = dto({ all: fromQuery(optional(z.object({ page: z.number().default(1) }))) });
    expect([await read(All, 'utm_source=x'), await read(All, 'page=2')]).toEqual([{}, { all: { page: 2 } }]);
  });
});

it.each<[string, AnyType, string, string]>([
  ['too many', z.array(z.string()).max(2), 'v=a,b,c', 'v: Too big: expected array to have <=2 items'],
  ['an item', z.array(z.int()), 'v=1,x', 'v[1]: Invalid input: expected number, received string'],
  [
    'the index that was sent',
    z.array(z.int()),
    'v[2]=1&v[5]=x',
    'v[5]: Invalid input: expected number, received string',
  ],
  ['no number', z.number(), 'v=0x10', 'v: Invalid input: expected number, received string'],
])('the message is about what was meant: %s', async (_what, schema, query, message) => {
  expect(await read(dto({ v: queryParam(schema) }), query)).toEqual([message]);
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

  it.each<[string, AnyType, string]>([
    ['names', dto({ f: fromQuery(counted(z.object({ email, tags: z.array(z.string()) }))) }), 'email=x&tags=a'],
    ['optional names', dto({ f: fromQuery(optional(counted(z.object({ tags: z.array(z.int()) })))) }), 'tags=1'],
    ['a list', dto({ f: queryParam(counted(z.array(email))) }), 'f=a'],
    ['JSON in text', dto({ f: queryParam(counted(z.object({ email }))) }), 'f={"email":"x"}'],
    ['text', dto({ f: field(counted(email)) }), 'f=x'],
  ])('%s', async (_what, Dto, query) => {
    calls = 0;
    expect(await bind(Dto, { method: 'GET', path: `/?${query}` })).toMatchObject({ status: 200 });
    expect(calls).toBe(1);
  });
});

it('a file of JSON is data where the schema takes data, and a file elsewhere', async () => {
  const json = (value: unknown): File => new File([JSON.stringify(value)], 'a.json', { type: 'application/json' });
  const name = (sent: unknown): string => (sent as UploadedFile).originalname;
  const All = z.object({
    line: z.object({ sku: z.string() }),
    lines: z.array(z.object({ sku: z.string() })),
    doc: z.any().transform(name),
  });
  const multipart = [
    ['line', json({ sku: 'a' })],
    ['lines', json([{ sku: 'b' }])],
    ['doc', json({})],
  ] as const;
  expect((await bind(dto({ all: fromForm(All) }), { multipart }, { allowFormData: true })).dto).toEqual({
    all: { line: { sku: 'a' }, lines: [{ sku: 'b' }], doc: 'a.json' },
  });
});
