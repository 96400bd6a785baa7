import express from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';
import {
  bindRequest,
  dto,
  enumOf,
  field,
  fromForm,
  fromHeader,
  fromQuery,
  hasPermission,
  idempotency,
  int,
  list,
  optional,
  queryParam,
  routeParam,
  string,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Sort extends dto({ by: string, direction: enumOf(['asc', 'desc']) }) {}
class Range extends dto({ from: int, to: optional(int) }) {}
class Filter extends dto({
  text: field(string, { bindFrom: 'q', required: false }),
  price: optional(Range),
  sort: list(Sort),
  tags: list(string),
}) {}
class Search extends dto({ filter: fromQuery(Filter) }) {}

const filter = (part: object = {}): object => ({ sort: [], tags: [], ...part });
const get = (query: string): Sent => ({ method: 'GET', path: `/${query}` });

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, string, object]>([
    [
      'brackets as they are',
      '?sort[1].by=b&sort[1].direction=ASC&sort[0].by=a&sort[0].direction=desc',
      {
        sort: [
          { by: 'a', direction: 'desc' },
          { by: 'b', direction: 'asc' },
        ],
      },
    ],
    ['brackets escaped', '?sort%5B0%5D%5Bby%5D=a&sort%5b0%5d.direction=asc', { sort: [{ by: 'a', direction: 'asc' }] }],
    ['dots escaped', '?price%2Efrom=1', { price: { from: 1 } }],
    ['values escaped', '?q=%C3%A9+%26&tags=a%2Cb', { text: 'é &', tags: ['a', 'b'] }],
    [
      'JSON text escaped',
      `?price=${encodeURIComponent('{"from":1,"to":2}')}&sort=${encodeURIComponent('[{"by":"a","direction":"asc"}]')}`,
      { price: { from: 1, to: 2 }, sort: [{ by: 'a', direction: 'asc' }] },
    ],
    ['bindFrom in place of the name', '?Q=a&text=b', { text: 'a' }],
    ['a name without a value', '?q&price.from=1', { text: '', price: { from: 1 } }],
  ])('%s: %s', async (_fact, query, value) => {
    expect((await bind(Search, get(query), { framework })).dto).toEqual({ filter: filter(value) });
  });

  it.each(['simple', 'extended', false])(
    "what the application's query parser (%s) makes of it does not matter",
    async parser => {
      const items = Array.from({ length: 25 }, (_, index) => index);
      const query = `?price.from=1&${items.map(index => `tags[${24 - index}]=${24 - index}`).join('&')}&sort[0][by]=a&sort[0].direction=asc`;
      const { dto: bound } = await bind(Search, get(query), {
        framework: () => framework().set('query parser', parser),
      });
      expect(bound).toEqual({
        filter: filter({ price: { from: 1 }, sort: [{ by: 'a', direction: 'asc' }], tags: items.map(String) }),
      });
    },
  );
});

it.each(['', '?', '?&&', '?unknown=1'])('the object is made when nothing matches: %p', async query => {
  const { dto: bound } = await bind(Search, get(query));
  expect([bound, bound?.filter instanceof Filter]).toEqual([{ filter: filter() }, true]);
});

it.each(['', '?unknown=1'])('so it is for a Standard Schema of an object: %p', async query => {
  class Schema extends dto({
    filter: fromQuery(z.object({ q: z.string().optional(), tags: z.array(z.string()).default([]) })),
  }) {}
  expect((await bind(Schema, get(query))).dto).toEqual({ filter: { tags: [] } });
});

describe('what is required', () => {
  class Page extends dto({ number: int, range: Range }) {}
  class Paged extends dto({ page: fromQuery(Page) }) {}
  class MaybePaged extends dto({ page: fromQuery(optional(Page)) }) {}

  it('is missing under its own name', async () => {
    expect((await bind(Paged, get('?range.to=x'))).errors).toEqual([
      { name: 'number', in: 'query', detail: 'A value is required.' },
      { name: 'range.from', in: 'query', detail: 'A value is required.' },
      { name: 'range.to', in: 'query', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
    ]);
  });

  it('is not asked for in an object that may be missing, when there is no query', async () => {
    expect((await bind(MaybePaged, get(''))).dto).toEqual({});
    expect((await bind(MaybePaged, get('?number=1&range.from=2'))).dto).toEqual({
      page: { number: 1, range: { from: 2 } },
    });
    expect((await bind(MaybePaged, get('?number=1'))).errors).toEqual([
      { name: 'range', in: 'query', detail: 'A value is required.' },
    ]);
  });
});

describe('beside fromQuery', () => {
  class Beside extends dto({
    filter: fromQuery(Filter),
    id: routeParam(int),
    page: queryParam(int),
    q: optional(string),
    tags: optional(list(string)),
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    may: hasPermission('all', { required: false }),
  }) {}
  const options = { route: '/:id', ...urlEncoded };

  it('flat query parameters bind to other properties all the same', async () => {
    const { dto: bound } = await bind(
      Beside,
      get('7?page=2&q=x&tags=a&tags[1]=b&X-Tenant=q&tenant=acme&all=true&may=true&id=8&price.from=1'),
      options,
    );
    expect(bound).toEqual({
      filter: filter({ text: 'x', tags: ['a', 'b'], price: { from: 1 } }),
      id: 7,
      page: 2,
      q: 'x',
      tags: ['a', 'b'],
      tenant: 'acme',
      may: false,
    });
  });

  it.each<[string, Sent]>([
    [
      'a form',
      {
        form: [
          ['q', 'f'],
          ['price.from', '9'],
        ],
      },
    ],
    ['JSON', { json: { q: 'f', price: { from: 9 }, filter: { text: 'f' } } }],
  ])('%s binds to the others, and not to it', async (_what, sent) => {
    expect((await bind(Beside, { ...sent, path: '/7?page=2' }, options)).dto).toEqual({
      filter: filter(),
      id: 7,
      page: 2,
      q: 'f',
      may: false,
    });
  });

  it('failures of all sources are in one answer', async () => {
    const { errors } = await bind(
      Beside,
      { path: '/x?page=y&sort[2].by=a&sort[2].direction=up&price.to=1', form: [['unknown', '1']] },
      options,
    );
    expect(errors).toEqual([
      { name: 'id', in: 'route', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'price.from', in: 'query', detail: 'A value is required.' },
      { name: 'sort[2].direction', in: 'query', detail: 'The value "up" is not one of asc, desc.' },
      { name: 'page', in: 'query', detail: 'The value "y" is not a whole number from -2147483648 to 2147483647.' },
    ]);
  });

  it('a form and a query can each have their object, of one class', async () => {
    class Move extends dto({ from: fromQuery(Range), to: fromForm(Range) }) {}
    expect((await bind(Move, { path: '/?from=1&to=2', form: [['FROM', '3']] }, urlEncoded)).dto).toEqual({
      from: { from: 1, to: 2 },
      to: { from: 3 },
    });
    expect((await bind(Move, { path: '/?to=2', form: [['to', 'x']] }, urlEncoded)).errors).toEqual([
      { name: 'from', in: 'form', detail: 'A value is required.' },
      { name: 'to', in: 'form', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
      { name: 'from', in: 'query', detail: 'A value is required.' },
    ]);
  });
});

it('behind idempotency(), another order of items is another request, another order of names is not', async () => {
  const seen: unknown[] = [];
  const app = express().post('/', idempotency({ store: new Keyv() }), bindRequest(Search), (req, res) => {
    res.json(seen.push(req.dto.filter.tags));
  });
  const queries = ['?tags[0]=a&tags[1]=b&q=x', '?q=x&tags[0]=a&tags[1]=b', '?q=x&tags[1]=a&tags[0]=b'];
  const answers: unknown[] = [];
  for (const query of queries) answers.push((await ask(app, { key: 'k', path: `/${query}` })).body);
  expect([answers, seen]).toEqual([
    [1, 1, 2],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
  ]);
});

describe('a schema that wants a collection', () => {
  const shapes = {
    zod: z.object({
      tags: z.array(z.string()).optional(),
      price: z.object({ of: z.array(z.coerce.number()) }).optional(),
      name: z.string().max(3).optional(),
    }),
  };

  it.each(
    Object.entries(shapes).flatMap(([vendor, schema]) =>
      (
        [
          ['?tags=a', { tags: ['a'] }],
          ['?tags=a,b', { tags: ['a', 'b'] }],
          ['?tags=a&tags=b', { tags: ['a', 'b'] }],
          ['?price.of=1', { price: { of: [1] } }],
          ['?tags=a&price[of]=1&name=x', { tags: ['a'], price: { of: [1] }, name: 'x' }],
        ] as const
      ).map(([query, expected]) => [vendor, query, schema, expected] as const),
    ),
  )('%s gets one, by a name that was sent once: %s', async (_vendor, query, schema, expected) => {
    expect((await bind(dto({ filter: fromQuery(schema) }), get(query))).dto).toEqual({ filter: expected });
  });

  it.each(Object.entries(shapes))('%s says what it said at first where that is not it', async (_vendor, schema) => {
    expect(
      (await bind(dto({ filter: fromQuery(schema) }), get('?tags=a&name=long'))).errors.map(({ name }) => name),
    ).toEqual(['name']);
    expect((await bind(dto({ filter: fromQuery(schema) }), get('?name=long'))).errors.map(({ name }) => name)).toEqual([
      'name',
    ]);
  });
});
