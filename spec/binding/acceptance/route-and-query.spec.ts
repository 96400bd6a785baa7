import express, { Router, type Express, type RequestHandler } from 'express';
import { z } from 'zod';
import { bindRequest, bool, dateTime, dto, field, fromForm, fromQuery, int, list, long, optional } from '../../../lib';
import { queryParam, routeParam, routeValue, string } from '../../../lib';
import type { AnyType, ParseResult } from '../../../lib';
import { ask } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { failures, outcome } from '../../support/one-endpoint';

const get = (path: string) => ({ method: 'GET', path });
const noInt = (text: string): string => `The value "${text}" is not a whole number from -2147483648 to 2147483647.`;

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
  ])('a query has %s: %s', async (_fact, query, value) => {
    expect(await outcome(Search, get(`/${query}`), { framework })).toEqual(value);
  });

  it.each(['simple', 'extended', false])('the query parser %s of the application does not matter', async parser => {
    const withParser = () => framework().set('query parser', parser);
    const bound = { text: 'a', page: 1, sizes: [1, 2] };
    expect(await outcome(Search, get('/?q=a&sizes[1]=2&sizes[0]=1'), { framework: withParser })).toEqual(bound);
  });

  it('parameters of the template bind to properties of the same name, in any case', async () => {
    class Order extends dto({ customerId: int, orderNo: field(int, { bindFrom: 'NO' }), note: string }) {}
    const options = { framework, route: '/:CustomerId/orders/:no' };
    const bound = { customerId: 42, orderNo: 7, note: 'x' };
    expect(await outcome(Order, { path: '/42/orders/7', json: { note: 'x' } }, options)).toEqual(bound);
  });

  it('a group of a regular expression is one text', async () => {
    class Ids extends dto({ ids: routeParam(list(string), { bindFrom: '0' }) }) {}
    expect(await outcome(Ids, get('/v/a,b/c'), { framework, route: /^\/v\/(.*)$/ })).toEqual({ ids: ['a', 'b/c'] });
  });

  it('a nested router has the parameters from above, app.use those of its own path', async () => {
    class Dto extends dto({ shop: routeParam(string), order: routeParam(int, { required: false }), page: int }) {}
    const answer: RequestHandler = (req, res) => {
      res.json((req as { dto?: unknown }).dto);
    };
    const orders = Router({ mergeParams: true }).get('/:order', bindRequest(Dto) as RequestHandler, answer);
    const app = framework()
      .use('/shops/:shop', Router({ mergeParams: true }).use('/orders', orders))
      .use('/shops/:shop', bindRequest(Dto) as RequestHandler, answer);
    expect((await ask(app, get('/shops/x/orders/7?page=2'))).body).toEqual({ shop: 'x', order: 7, page: 2 });
    expect((await ask(app, get('/shops/x/more/path?page=2'))).body).toEqual({ shop: 'x', page: 2 });
  });
});

it('a missing value of a GET is reported as a query parameter, under the name that is looked for', async () => {
  expect(await outcome(Search, get('/'))).toEqual(['query q: This query parameter is required.']);
});

class Query extends dto({ a: optional(string), b: optional(int), t: optional(list(string)) }) {}
class Nested extends dto({ all: fromQuery(Query), form: fromForm(Query) }) {}

it.each<[string, string]>([
  ['a=caf%E9', 'a'],
  ['a=100%', 'a'],
  ['a=%zz', 'a'],
  ['a=%4', 'a'],
  ['a=%ED%A0%80', 'a'],
  ['t[0]=x&t[1]=%FF', 't[1]'],
  ['x=%FF', 'x'],
  ['caf%E9=1', 'caf\ufffd'],
  ['%FF', '\ufffd'],
  ['%74%5B%5D=%FF', 't[]'],
])('percent-encoding that is not UTF-8 is a failure under its name: %s', async (text, name) => {
  const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
  expect(await outcome(Query, get(`/?b=1&${text}`))).toEqual([`query ${name}: ${detail}`]);
  expect(await outcome(Query, { form: `b=1&${text}` })).toEqual([`form ${name}: ${detail}`]);
});

it('valid percent-encoding is decoded', async () => {
  expect(await outcome(Query, get('/?a=caf%25E9'))).toEqual({ a: 'caf%E9' });
  expect(await outcome(Query, { form: 'a=caf%C3%A9+100%25' })).toEqual({ a: 'café 100%' });
});

it('all that is not valid is in one answer, beside other failures, up to the limit', async () => {
  const names = ['form a', 'form b', 'query a', 'query b'];
  expect(await failures(Nested, { form: 'a=%E9&b=x', path: '/?a=%E9&b=y' })).toEqual(names);
  const many = Array.from({ length: 10_000 }, (_, index) => `%FF${index}=%FF`).join('&');
  expect(await failures(Query, { form: many })).toHaveLength(100);
});

it.each<[string, AnyType, unknown, unknown]>([
  ['a number', int, 5, 5],
  ['a bigint', long, 9_007_199_254_740_993n, 9_007_199_254_740_993n],
  ['a boolean', bool, true, true],
  ['a number, as text', string, 5, '5'],
  ['a date', dateTime, new Date(0), new Date(0)],
  ['numbers, of a wildcard', list(int), [1, 2], [1, 2]],
  ['an object, which is no value', optional(int), { id: 5 }, undefined],
])('a parameter that a middleware in front has converted is read: %s', async (_what, type, converted, value) => {
  const convert: RequestHandler = (req, _res, next) => {
    Object.assign(req.params, { v: converted });
    next();
  };
  let seen: unknown;
  const app = express().get('/:v', convert, bindRequest(dto({ v: routeParam(type) })), (req, res) => {
    seen = [req.dto.v, routeValue(req, 'v', type)];
    res.end();
  });
  expect((await ask(app, get('/x'))).status).toBe(200);
  expect(seen).toEqual([value, value]);
});

class Path {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Path> {
    return { success: true, value: new Path(text ?? '') };
  }
}

it.each<[string, AnyType, string, unknown]>([
  ['a string, joined with slashes', string, 'a/b/c.txt', 'a/b/c.txt'],
  ['a string of one segment', string, 'a,b', 'a,b'],
  ['a class with tryParse', Path, 'a/b', new Path('a/b')],
  ['a list of its segments', list(string), 'a/b/c.txt', ['a', 'b', 'c.txt']],
  ['a list of one segment, comma and all', list(string), 'a,b', ['a,b']],
  ['a list of segments in brackets', list(string), '[a]/b', ['[a]', 'b']],
  ['a list of int', list(int), '1/2', [1, 2]],
  ['a scalar', int, '7', 7],
  ['a schema of text', z.string(), 'a/b', 'a/b'],
  ['a schema of segments', z.array(z.string()), 'a/b', ['a', 'b']],
  ['a schema of one segment', z.array(z.string()), 'a,b', ['a,b']],
  ['a failure', int, '1/2', [`route path: ${noInt('1/2')}`]],
  ['a failure of one segment', list(int), '1/x', [`route path[1]: ${noInt('x')}`]],
])('a wildcard is bound into %s', async (_what, type, path, value) => {
  const bound = await outcome(dto({ at: routeParam(type, { bindFrom: 'path' }) }), get(`/files/${path}`), {
    route: '/files/*path',
  });
  expect(bound).toEqual(Array.isArray(bound) ? value : { at: value });
});

it('a wildcard of Express 4 is text, under its number', async () => {
  const File = dto({ at: routeParam(string, { bindFrom: '0' }) });
  const framework = expressVersions[1]?.[1] as () => Express;
  expect(await outcome(File, get('/files/a/b'), { framework, route: '/files/*' })).toEqual({ at: 'a/b' });
});
