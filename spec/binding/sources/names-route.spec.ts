import express, { Router, type RequestHandler } from 'express';
import {
  bindRequest,
  bool,
  dateTime,
  dto,
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
