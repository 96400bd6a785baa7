import {
  dto,
  field,
  int,
  list,
  optional,
  queryParam,
  string,
  fromForm,
  fromQuery,
  bindRequest,
  bool,
  dateTime,
  long,
  routeParam,
  routeValue,
  type AnyType,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { bind, urlEncoded } from '../../support/one-endpoint';
import express, { Router, type RequestHandler } from 'express';
import { ask } from '../../support/ask';

class Search extends dto({
  text: field(string, { bindFrom: 'q' }),
  page: queryParam(int, { default: 1 }),
  sizes: optional(list(int)),
}) {}

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each([
    ['names in any case', '?Q=a&PAGE=2', { text: 'a', page: 2 }],
    ['bindFrom in place of the name', '?q=a&text=b', { text: 'a', page: 1 }],
    ['encoded names and values', '?%71=%C3%A9+%2B', { text: 'é +', page: 1 }],
    ['names that nobody declared', '?q=a&x=1&q[x]=2&page.x=3&__proto__=4&constructor=5', { text: 'a', page: 1 }],
    ['a name without a value', '?q&page=3', { text: '', page: 3 }],
    ['values with an equals sign', '?q=a=b==', { text: 'a=b==', page: 1 }],
    ['an escaped percent sign', '?q=100%25&page=2', { text: '100%', page: 2 }],
    ['separators without anything between', '?&&q=a&&', { text: 'a', page: 1 }],
  ])('%s: %s', async (_fact, query, value) => {
    expect((await bind(Search, { method: 'GET', path: `/${query}` }, { framework })).dto).toEqual(value);
  });

  it.each(['simple', 'extended', false])(
    "what the application's query parser (%s) makes of it does not matter",
    async parser => {
      const withParser = () => framework().set('query parser', parser);
      expect(
        (await bind(Search, { method: 'GET', path: '/?q=a&sizes[1]=2&sizes[0]=1' }, { framework: withParser })).dto,
      ).toEqual({ text: 'a', page: 1, sizes: [1, 2] });
    },
  );
});

it('a missing value of a GET is reported as a query parameter, under the name that is looked for', async () => {
  expect((await bind(Search, { method: 'GET' })).errors).toEqual([
    { name: 'q', in: 'query', detail: 'This query parameter is required.' },
  ]);
});

class Query extends dto({ a: optional(string), b: optional(int), t: optional(list(string)) }) {}
class Nested extends dto({ all: fromQuery(Query), form: fromForm(Query) }) {}
const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';

it.each<[string, string, string]>([
  ['a byte that is not UTF-8', 'a=caf%E9', 'a'],
  ['a lone percent sign', 'a=100%', 'a'],
  ['digits that are none', 'a=%zz', 'a'],
  ['half an escape', 'a=%4', 'a'],
  ['a surrogate', 'a=%ED%A0%80', 'a'],
  ['in a collection', 't[0]=x&t[1]=%FF', 't[1]'],
  ['in a name that nobody declared', 'x=%FF', 'x'],
  ['in a name', 'caf%E9=1', 'caf\ufffd'],
  ['in a name without a value', '%FF', '\ufffd'],
  ['in a name that is escaped otherwise, too', '%74%5B%5D=%FF', 't[]'],
])('percent-encoding that is not valid is a failure under its name: %s', async (_what, text, name) => {
  expect((await bind(Query, { method: 'GET', path: `/?b=1&${text}` })).errors).toEqual([{ name, in: 'query', detail }]);
  expect((await bind(Query, { form: `b=1&${text}` }, urlEncoded)).errors).toEqual([{ name, in: 'form', detail }]);
});

it('valid percent-encoding is decoded', async () => {
  expect((await bind(Query, { method: 'GET', path: '/?a=caf%25E9' })).dto).toEqual({ a: 'caf%E9' });
  expect((await bind(Query, { form: 'a=caf%C3%A9+100%25' }, urlEncoded)).dto).toEqual({ a: 'café 100%' });
});

it('all of them are in one answer, beside other failures, up to the limit', async () => {
  expect(
    (await bind(Nested, { form: 'a=%E9&b=x', path: '/?a=%E9&b=y' }, urlEncoded)).errors.map(
      ({ name, in: source }) => `${source} ${name}`,
    ),
  ).toEqual(['form a', 'form b', 'query a', 'query b']);
  const many = Array.from({ length: 10_000 }, (_, index) => `%FF${index}=%FF`).join('&');
  expect((await bind(Query, { form: many }, urlEncoded)).errors).toHaveLength(100);
});

it('values without an index come in the order that they were sent in, each after all before it', async () => {
  for (const [text, t] of [
    ['t[]=b&t=c', ['b', 'c']],
    ['t=c&t[]=b', ['c', 'b']],
    ['t[]=1&T=2&t[]=3&t=4', ['1', '2', '3', '4']],
    ['t[1]=4&t[]=b&t[0]=3&t=c', ['3', '4', 'b', 'c']],
  ] as const) {
    expect((await bind(Query, { method: 'GET', path: `/?${text}` })).dto).toEqual({ t });
    expect((await bind(Nested, { path: `/?${text}`, form: text }, urlEncoded)).dto).toEqual({
      all: { t },
      form: { t },
    });
    expect(
      (await bind(Query, { multipart: text.split('&').map(part => part.split('=') as [string, string]) }, urlEncoded))
        .dto,
    ).toEqual({ t });
  }
});

it.each<[string, AnyType, unknown, unknown]>([
  ['a number', int, 5, 5],
  ['a bigint', long, 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ['a boolean', bool, true, true],
  ['a number, as text', string, 5, '5'],
  ['a date', dateTime, new Date(0), new Date(0)],
  ['numbers, of a wildcard', list(int), [1, 2], [1, 2]],
])('a parameter that a middleware in front has converted is read: %s', async (_what, type, converted, value) => {
  const convert: RequestHandler = (req, _res, next) => {
    Object.assign(req.params, { v: converted });
    next();
  };
  let seen: unknown;
  const app = express().get('/:v', convert, bindRequest(dto({ v: routeParam(type) })), (req, res) => {
    seen = [req.dto.v, routeValue(req, 'v', type)];
    res.json(null);
  });
  expect((await ask(app, { method: 'GET', path: '/x' })).status).toBe(200);
  expect(seen).toEqual([value, value]);
});

it('a parameter that a middleware in front has replaced by an object is missing', async () => {
  const load: RequestHandler = (req, _res, next) => {
    Object.assign(req.params, { v: { id: 5 } });
    next();
  };
  const app = express().get('/:v', load, bindRequest(dto({ v: routeParam(int) })));
  const { status, text } = await ask(app, { method: 'GET', path: '/x' });
  expect([status, text]).toEqual([400, expect.stringContaining('"detail":"This route parameter is required."')]);
});

it.each(expressVersions)(
  'parameters of the template bind to properties of the same name, in any case: %s',
  async (...version) => {
    class Order extends dto({ customerId: int, orderNo: field(int, { bindFrom: 'NO' }), note: string }) {}
    const endpoint = { framework: version[1], route: '/:CustomerId/orders/:no' };
    const { dto: bound } = await bind(Order, { path: '/42/orders/7', json: { note: 'x' } }, endpoint);
    expect(bound).toEqual({ customerId: 42, orderNo: 7, note: 'x' });
  },
);

describe.each(expressVersions)('mounted, %s', (_name, framework) => {
  class Dto extends dto({ shop: routeParam(string), order: routeParam(int), page: int }) {}

  it('in a nested router, with the parameters merged from above', async () => {
    const app = framework();
    const orders = Router({ mergeParams: true }).get('/:order', bindRequest(Dto), (req, res) => {
      res.json(req.dto);
    });
    app.use('/shops/:shop', Router({ mergeParams: true }).use('/orders', orders));
    const { status, body } = await ask(app, { method: 'GET', path: '/shops/x/orders/7?page=2' });
    expect([status, body]).toEqual([200, { shop: 'x', order: 7, page: 2 }]);
  });

  it('by app.use, with the parameters of its own path', async () => {
    class Shop extends dto({ shop: routeParam(string), page: int }) {}
    const app = framework();
    app.use('/shops/:shop', bindRequest(Shop), (req: express.Request, res: express.Response) => {
      res.json(req.dto);
    });
    const { status, body } = await ask(app, { method: 'GET', path: '/shops/x/more/path?page=2' });
    expect([status, body]).toEqual([200, { shop: 'x', page: 2 }]);
  });
});
