import express, { Router, type RequestHandler } from 'express';
import {
  bindRequest,
  bool,
  dateTime,
  dto,
  field,
  int,
  list,
  long,
  routeParam,
  routeValue,
  string,
  type AnyType,
} from '../../../lib';
import { ask } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { bind } from '../../support/one-endpoint';

it.each(expressVersions)('names match in any case, and bindFrom replaces the name: %s', async (_name, framework) => {
  class Dto extends dto({ customerId: routeParam(int), orderNo: field(int, { bindFrom: 'NO' }) }) {}
  expect((await bind(Dto, { path: '/1/2' }, { framework, route: '/:CustomerID/:no' })).dto).toEqual({
    customerId: 1,
    orderNo: 2,
  });
});

it.each([
  [
    'a failure',
    '/x',
    { name: 'id', in: 'route', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
  ],
  ['a missing one', '/', { name: 'id', in: 'route', detail: 'This route parameter is required.' }],
])('%s names the parameter', async (_what, path, failure) => {
  class Dto extends dto({ orderId: routeParam(int, { bindFrom: 'id' }) }) {}
  const { status, errors } = await bind(Dto, { path }, { route: '/{:id}' });
  expect({ status, errors }).toEqual({ status: 400, errors: [failure] });
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
