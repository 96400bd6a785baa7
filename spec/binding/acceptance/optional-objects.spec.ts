import { processorTime } from '../../support/processor-time';
import { type } from 'arktype';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { z } from 'zod';
import { dto, field, fromForm, fromQuery, int, lazy, list, optional, string, type AnyType } from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';
import { all, threeWays, type Names } from './three-ways';

class Range extends dto({ from: int, to: optional(int) }) {}
class Filter extends dto({
  status: string,
  q: field(string, { bindFrom: 'search', required: false }),
  price: optional(Range),
  tags: optional(list(string)),
  ranges: optional(list(Range)),
  internal: field(string, { dontBind: ['query', 'form'], required: false }),
}) {}
const get = (query: string) => ({ method: 'GET', path: `/?${query}` });
const pairs = (text: string): Names =>
  text.split('&').map(part => {
    const [name = '', value = ''] = part.split('=');
    return [name, value];
  });

describe('an object that may be missing', () => {
  class Search extends dto({ filter: fromQuery(optional(Filter)), page: optional(int) }) {}
  class Post extends dto({ filter: fromForm(optional(Filter)) }) {}

  it.each([
    'page=2',
    'utm_source=x',
    'utm_source=x&page=2',
    'internal=x',
    'status.x=1',
    'price.x=1',
    'price[x]=1',
    'ranges.x=1',
    'ranges[x]=1',
    'filter.status=open',
    'q=tea',
  ])('is missing when none of its own names was sent: ?%s', async query => {
    const { status, dto: bound } = await bind(Search, get(query));
    expect([status, Object.hasOwn(bound ?? { filter: 1 }, 'filter')]).toEqual([200, false]);
  });

  it.each<[string, number, unknown]>([
    ['status=open', 200, { status: 'open' }],
    ['STATUS=open&page=2', 200, { status: 'open' }],
    ['status=', 200, { status: '' }],
    ['status=open&price.from=1', 200, { status: 'open', price: { from: 1 } }],
    ['search=tea', 400, undefined],
    ['price.from=1', 400, undefined],
    ['price={"from":1}', 400, undefined],
    ['tags=a', 400, undefined],
    ['tags[]=a', 400, undefined],
    ['tags[0]=a', 400, undefined],
    ['ranges[0].from=1', 400, undefined],
    ['price=', 400, undefined],
    ['tags=', 400, undefined],
  ])('is there, and asks for what it requires, when one of them was: ?%s', async (query, expected, filter) => {
    const { status, dto: bound, errors } = await bind(Search, get(query));
    expect([status, bound?.filter, errors.map(({ name }) => name)]).toEqual([
      expected,
      filter,
      expected === 200 ? [] : ['status'],
    ]);
  });

  it('is not asked for because of an undeclared field of a form', async () => {
    expect((await bind(Post, { form: [['_csrf', 'x']] }, urlEncoded)).dto).toEqual({});
    expect(
      (
        await bind(
          Post,
          {
            multipart: [
              ['_csrf', 'x'],
              ['photo', new File(['x'], 'a.png')],
            ],
          },
          urlEncoded,
        )
      ).dto,
    ).toEqual({});
    expect(
      (
        await bind(
          Post,
          {
            form: [
              ['_csrf', 'x'],
              ['status', 'open'],
            ],
          },
          urlEncoded,
        )
      ).dto,
    ).toEqual({ filter: { status: 'open' } });
  });

  it('refuses a name below an item that does not say which item it belongs to', async () => {
    for (const query of ['ranges[].from=1', 'ranges.from=1', 'status=x&ranges[].from=1'])
      expect((await bind(Search, get(query))).errors.map(({ name }) => name)).toContain('ranges');
  });
});

describe('below fromQuery and fromForm', () => {
  class Tree extends dto({
    name: string,
    next: optional(lazy((): AnyType => Tree)),
    nodes: optional(list(lazy((): AnyType => Tree))),
  }) {}
  class Outer extends dto({ title: optional(string), price: optional(Range), tree: optional(Tree) }) {}

  it.each<[string, string, object]>([
    ['a name of nobody makes no object', 'price.x=1&price[y]=2&tree.x.name=3', {}],
    ['one of its own names makes one', 'price.from=1&price.x=2', { price: { from: 1 } }],
    [
      'a name deeper down makes all that is above',
      'tree.name=a&tree.next.name=b',
      { tree: { name: 'a', next: { name: 'b' } } },
    ],
    ['JSON text is not lost beside a name of nobody', 'price={"from":1}&price.x=2', { price: { from: 1 } }],
    [
      'names of nobody below an object that is there',
      'tree.name=a&tree.next.x=b&tree.next.next.y=c&tree.nodes.x=d',
      { tree: { name: 'a' } },
    ],
  ])('%s: %s', async (_fact, text, value) => {
    expect(await threeWays(Outer, pairs(text))).toEqual(all(value));
  });

  it('a name deeper down asks for what is required above', async () => {
    class Query extends dto({ all: fromQuery(Outer) }) {}
    expect((await bind(Query, get('tree.next.next.name=x'))).errors.map(({ name }) => name)).toEqual([
      'tree.name',
      'tree.next.name',
    ]);
  });

  it('an item with an index was sent, even if the names below it are unknown', async () => {
    class Query extends dto({ all: fromQuery(Outer) }) {}
    expect((await bind(Query, get('tree.nodes[0].x=1'))).errors.map(({ name }) => name)).toEqual([
      'tree.name',
      'tree.nodes[0].name',
    ]);
  });

  it('a required object is asked for, even if unknown names below it were sent', async () => {
    class Required extends dto({ price: Range }) {}
    class Query extends dto({ all: fromQuery(Required) }) {}
    expect((await bind(Query, get('price.x=1'))).errors.map(({ name }) => name)).toEqual(['price.from']);
  });

  it('thousands of undeclared names at every level are answered quickly', async () => {
    const names = Array.from({ length: 19_000 }, (_, index) => `tree${'.next'.repeat(index % 15)}.x${index}=1`).join(
      '&',
    );
    const ms = await processorTime(async () => {
      expect((await bind(dto({ all: fromForm(Outer) }), { form: names }, urlEncoded)).dto).toEqual({ all: {} });
    });
    expect(ms).toBeLessThan(5_000);
  });
});

describe.each<[string, AnyType]>([
  ['zod', z.object({ status: z.string(), page: z.coerce.number().default(1) })],
  [
    'an asynchronous schema',
    z.object({ status: z.string(), page: z.coerce.number().default(1) }).refine(async () => Promise.resolve(true)),
  ],
])('a schema that may be missing, and whose names are unknown: %s', (_vendor, schema) => {
  class Search extends dto({ filter: fromQuery(optional(schema)), page: optional(int) }) {}
  class Nested extends dto({ all: fromQuery(dto({ filter: optional(schema) })) }) {}

  it('is missing while the names make no difference to it', async () => {
    expect((await bind(Search, get('utm_source=x'))).dto).toEqual({});
    expect((await bind(Search, get(''))).dto).toEqual({});
    expect((await bind(Nested, get('filter.utm_source=x'))).dto).toEqual({ all: {} });
  });

  it('is there when they do', async () => {
    expect((await bind(Search, get('status=open&page=2&utm_source=x'))).dto).toEqual({
      filter: { status: 'open', page: 2 },
      page: 2,
    });
    expect((await bind(Nested, get('filter.status=open'))).dto).toEqual({
      all: { filter: { status: 'open', page: 1 } },
    });
    expect((await bind(Search, get('status=a&status=b'))).errors.map(({ name }) => name)).toEqual(['status']);
  });
});

it('an optional schema that accepts undefined is missing while the names make no difference', async () => {
  const filter = z.object({ q: z.string().optional(), tags: z.array(z.string()).default([]) });
  class Search extends dto({ filter: fromQuery(optional(filter)) }) {}
  expect([(await bind(Search, get('utm_source=x'))).dto, (await bind(Search, get('q=x'))).dto]).toEqual([
    {},
    { filter: { q: 'x', tags: [] } },
  ]);
});

describe.each<[string, AnyType, string, unknown]>([
  ['a coerced number', z.object({ page: z.coerce.number() }), 'page=abc', 'page'],
  ['two coerced numbers', z.object({ lat: z.coerce.number(), lon: z.coerce.number() }), 'lat=abc&lon=def', 'lat'],
  ['a coerced date', z.object({ since: z.coerce.date() }), 'since=abc', 'since'],
  ['an enum', z.object({ sort: z.enum(['a', 'b']) }), 'sort=c', 'sort'],
  [
    'what is deeper down',
    z.object({ at: z.object({ lat: z.coerce.number() }).prefault({ lat: undefined }) }),
    'at.lat=abc',
    'at.lat',
  ],
  ['an item', z.object({ n: z.array(z.coerce.number()).min(1).prefault(['x']) }), 'n[4]=abc', 'n[4]'],
  [
    'what the schema parses from a text',
    z.object({ at: z.preprocess(text => ({ lat: Number(text) }), z.object({ lat: z.number() })) }),
    'at=x',
    'at.lat',
  ],
  [
    'a schema that checks later',
    z.object({ page: z.coerce.number().refine(async () => Promise.resolve(true)) }),
    'page=abc',
    'page',
  ],
])('an optional schema that has the same issue for nothing as for a wrong value: %s', (_of, schema, query, name) => {
  class Search extends dto({ all: fromQuery(optional(schema)) }) {}
  class Nested extends dto({ all: fromQuery(dto({ in: optional(schema) })) }) {}
  class Post extends dto({ all: fromForm(optional(schema)) }) {}

  it('refuses a wrong value', async () => {
    const below = query.replace(/(^|&)/g, '$1in.');
    expect((await bind(Search, get(query))).errors[0]).toMatchObject({ name, in: 'query' });
    expect((await bind(Nested, get(below))).errors[0]).toMatchObject({ name: `in.${String(name)}`, in: 'query' });
    expect((await bind(Post, { form: query }, urlEncoded)).errors[0]).toMatchObject({ name, in: 'form' });
  });

  it('is missing while only unrelated names were sent', async () => {
    expect((await bind(Search, get('utm_source=x'))).dto).toEqual({});
    expect((await bind(Nested, get('in.utm_source=x'))).dto).toEqual({ all: {} });
    expect((await bind(Post, { form: '_csrf=x' }, urlEncoded)).dto).toEqual({});
  });
});

it('an optional schema that makes another value each time is missing where nothing was sent', async () => {
  let made = 0;
  const order = z.object({ id: z.number().default(() => ++made), note: z.string().optional() });
  class Orders extends dto({ order: fromQuery(optional(order)) }) {}
  for (const query of ['', '=x']) expect((await bind(Orders, get(query))).dto).toEqual({});
  expect((await bind(Orders, get('note=x'))).dto).toMatchObject({ order: { note: 'x' } });
});

it('an optional schema that refuses the whole object, whatever was sent, is missing', async () => {
  const schema = z.object({ q: z.string().optional() }).refine(({ q }) => q);
  expect((await bind(dto({ all: fromQuery(optional(schema)) }), get('utm_source=x'))).dto).toEqual({});
});

describe.each<[string, AnyType]>([
  ['zod', z.union([z.object({ page: z.coerce.number(), by: z.string() }), z.object({ day: z.coerce.date() })])],
  [
    'zod, in another union',
    z.union([
      z.union([z.object({ page: z.coerce.number(), by: z.string() }), z.literal('x')]),
      z.object({ day: z.coerce.date() }),
    ]),
  ],
  [
    'valibot',
    toStandardJsonSchema(
      v.union([v.object({ page: v.pipe(v.string(), v.digits()), by: v.string() }), v.object({ day: v.string() })]),
    ),
  ],
  ['arktype', type({ page: 'string.numeric', by: 'string' }).or({ day: 'string.date.iso' })],
])('an optional union of objects: %s', (_of, schema) => {
  class Search extends dto({ all: fromQuery(optional(schema)) }) {}
  class Nested extends dto({ all: fromQuery(dto({ in: optional(schema) })) }) {}

  it.each(['page=abc&by=x', 'by=x'])('refuses what is not one of them: %s', async query => {
    expect((await bind(Search, get(query))).status).toBe(400);
    expect((await bind(Nested, get(query.replace(/(^|&)/g, '$1in.')))).status).toBe(400);
  });

  it('is missing while only unrelated names were sent', async () => {
    expect((await bind(Search, get('utm_source=x'))).dto).toEqual({});
    expect((await bind(Nested, get('in.utm_source=x'))).dto).toEqual({ all: {} });
  });
});
