import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, fromForm, fromQuery, optional, queryParam, type AnyType } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

const get = (query: string) => ({ method: 'GET', path: `/?${query}` });
const post = (form: string) => ({ form });
const zodLines = z.array(z.object({ sku: z.string() }));

/** A record of texts, and one beside an array of objects. */
const libraries: readonly [library: string, stock: AnyType, whole: AnyType][] = [
  [
    'zod',
    z.record(z.string(), z.string()),
    z.object({ stock: z.record(z.string(), z.string()).optional(), lines: zodLines.optional() }),
  ],
  [
    'valibot',
    v.record(v.string(), v.string()),
    v.object({
      stock: v.optional(v.record(v.string(), v.string())),
      lines: v.optional(v.array(v.object({ sku: v.string() }))),
    }),
  ],
  [
    'arktype',
    type({ '[string]': 'string' }),
    type({ 'stock?': { '[string]': 'string' }, 'lines?': type({ sku: 'string' }).array() }),
  ],
];

describe.each(libraries)('names with numbers, for %s,', (_library, stock, whole) => {
  class Flat extends dto({ stock: queryParam(stock) }) {}
  class Whole extends dto({ all: fromQuery(whole) }) {}
  class Maybe extends dto({ all: fromQuery(optional(whole)) }) {}
  class Form extends dto({ all: fromForm(whole) }) {}

  it.each<[string, string, unknown]>([
    ['one', 'stock[17]=2', { 17: '2' }],
    ['several', 'stock[17]=2&stock[3]=1', { 17: '2', 3: '1' }],
    ['beyond the limit of items', 'stock[100017]=2', { 100017: '2' }],
    ['that look alike', 'stock[7]=2&stock[007]=1', { 7: '2', '007': '1' }],
  ])('are the properties of a record: %s', async (_what, query, value) => {
    expect((await bind(Flat, get(query))).dto).toEqual({ stock: value });
    for (const Dto of [Whole, Maybe]) expect((await bind(Dto, get(query))).dto).toEqual({ all: { stock: value } });
    expect((await bind(Form, post(query), urlEncoded)).dto).toEqual({ all: { stock: value } });
  });

  it('are the properties of a record and, beside it, the items of an array, whose gaps are closed up', async () => {
    const sent = 'stock[17]=2&lines[3].sku=a&lines[5].sku=b';
    const value = { all: { stock: { 17: '2' }, lines: [{ sku: 'a' }, { sku: 'b' }] } };
    expect((await bind(Whole, get(sent))).dto).toEqual(value);
    expect((await bind(Form, post(sent), urlEncoded)).dto).toEqual(value);
  });

  it('have a failure under the name that was sent', async () => {
    const namesOf = async (query: string) => (await bind(Whole, get(query))).errors.map(({ name }) => name);
    expect(await namesOf('stock[17]=2&stock[18].a=1')).toEqual(['stock[18]']);
    expect(await namesOf('stock[17]=2&lines[3].sku=a&lines[5].sku[]=b')).toEqual(['lines[5].sku']);
    expect((await bind(Whole, get('stock[17]=2&lines[100017].sku=a'))).errors).toMatchObject([
      { name: 'lines', detail: 'The index 100017 is too high; 10000 items are allowed.' },
    ]);
  });
});

it('indexes without gaps are an array only: a limit of its items cannot be passed by as an object', async () => {
  const few = z.union([z.array(z.string()).max(2), z.record(z.string(), z.string()).transform(Object.values)]);
  class Flat extends dto({ v: queryParam(few) }) {}
  expect((await bind(Flat, get('v[0]=a&v[1]=b'))).dto).toEqual({ v: ['a', 'b'] });
  expect((await bind(Flat, get('v[0]=a&v[1]=b&v[2]=c'))).status).toBe(400);
});

it('an optional array in a form of a dto is read, or refused, also if its indexes have gaps', async () => {
  const rows = z.array(z.object({ sku: z.string().min(2) }));
  class Order extends dto({ rows: optional(rows) }) {}
  class Form extends dto({ order: fromForm(Order) }) {}
  class Query extends dto({ order: fromQuery(Order) }) {}
  const sent = 'rows[1].sku=abc&rows[2].sku=def';
  const order = { rows: [{ sku: 'abc' }, { sku: 'def' }] };
  expect((await bind(Form, post(sent), urlEncoded)).dto).toEqual({ order });
  expect((await bind(Query, get(sent))).dto).toEqual({ order });
  expect((await bind(Query, get('rows[1].sku=a'))).errors.map(({ name }) => name)).toEqual(['rows[1].sku']);
});

it.each<[string, AnyType, string, unknown]>([
  ['an array', z.union([z.array(z.string()), z.record(z.string(), z.string())]), 'v[0]=a&v[1]=b', ['a', 'b']],
  ['an object with gaps', z.union([z.array(z.string()), z.record(z.string(), z.string())]), 'v[3]=a', { 3: 'a' }],
])('a schema that takes both gets %s', async (_what, schema, query, value) => {
  expect((await bind(dto({ v: queryParam(schema) }), get(query))).dto).toEqual({ v: value });
});

const ofOne = z.preprocess(sent => [sent].flat(), z.array(z.string()));
const checked = v.pipe(
  v.any(),
  v.check((list: string[]) => list.map(String).length > 0),
);

it.each<[string, AnyType, AnyType]>([
  ['that makes one of one value', ofOne, z.object({ v: ofOne })],
  ['whose check fails for an object', checked, v.object({ v: checked })],
])('gaps are closed up for an array %s', async (_what, schema, whole) => {
  for (const [query, value] of [
    ['v[1]=a', ['a']],
    ['v[0]=a&v[2]=b', ['a', 'b']],
  ] as const) {
    expect((await bind(dto({ v: queryParam(schema) }), get(query))).dto).toEqual({ v: value });
    expect((await bind(dto({ all: fromQuery(whole) }), get(query))).dto).toEqual({ all: { v: value } });
    expect((await bind(dto({ all: fromQuery(optional(whole)) }), get(query))).dto).toEqual({ all: { v: value } });
  }
});

it('an array that is refused for its length is not called an object', async () => {
  class Flat extends dto({ v: queryParam(z.array(z.string()).min(3, 'too few')) }) {}
  for (const query of ['v[0]=a&v[1]=b', 'v[0]=a&v[5]=b'])
    expect((await bind(Flat, get(query))).errors).toEqual([{ name: 'v', in: 'query', detail: 'too few' }]);
});

it('a check that fails for every shape is an error of the application', async () => {
  const schema = v.pipe(
    v.any(),
    v.check(() => {
      throw new TypeError('no rates');
    }),
  );
  for (const query of ['v[0]=a', 'v[3]=a']) {
    const { status, response } = await bind(dto({ v: queryParam(schema) }), get(query));
    expect([status, response.text]).toEqual([500, 'no rates']);
  }
});

it('another shape begins with the texts that were sent, also where one of them was tried as a collection', async () => {
  const seen: string[] = [];
  const whole = z.preprocess(
    sent => {
      seen.push(JSON.stringify(sent));
      return sent;
    },
    z.object({ a: z.array(z.number()), m: z.array(z.string()) }),
  );
  await bind(dto({ all: fromQuery(whole) }), get('m[3]=q&a=1,2&a=3'));
  expect(seen).toContain('{"m":["q"],"a":["1,2","3"]}');
});
