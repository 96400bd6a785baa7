import express, { type Request, type Response } from 'express';
import { connect } from 'node:net';
import {
  bindRequest,
  bool,
  decimal,
  dto,
  field,
  fromClaim,
  fromHeader,
  guid,
  hasPermission,
  int,
  list,
  queryParam,
  routeParam,
  string,
} from '../../lib';
import { serve } from '../support/serve';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';

class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}
class PlaceOrder extends dto({
  customerId: routeParam(guid),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  items: field(list(OrderLine)),
  rush: queryParam(bool, { default: false }),
  userId: fromClaim(string, { name: 'sub' }),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {}

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const json =
  '{"items":[{"sku":"tea","quantity":2,"unitPrice":4.50},{"sku":"pot","quantity":1,"unitPrice":0.1000000000000000055}]}';
const headers = { 'Content-Type': 'application/json', 'X-Tenant': 'acme' };
const user = { sub: 'u1', scope: 'orders:discount' };

describe.each(expressVersions)('%s', (_name, framework) => {
  it('a dto for the whole application, and one for the route', async () => {
    class Paged extends dto({ page: queryParam(int, { default: 1 }) }) {}
    const app = framework();
    const seen: unknown[] = [];
    const see = (req: Request, _res: Response, next: () => void): void => {
      seen.push(req.dto);
      next();
    };
    app.use(bindRequest(Paged), see);
    app.post(
      '/:customerId',
      (req, _res, next) => {
        Object.assign(req, { user });
        next();
      },
      bindRequest(PlaceOrder),
      see,
      (_req, res) => {
        res.end();
      },
    );
    await ask(app, { path: `/${ID}?page=2`, headers, json });
    expect(seen).toMatchObject([{ page: 2 }, { customerId: ID }]);
  });
});

it('a client that hangs up while it sends is not answered, and breaks nothing', async () => {
  const app = express();
  let ran = false;
  let gone: Promise<unknown> | undefined;
  const arrived = new Promise<void>(resolve => {
    app.use((req, _res, next) => {
      gone = new Promise(closed => {
        req.once('close', closed);
      });
      next();
      resolve();
    });
  });
  app.post('/', bindRequest(OrderLine), () => {
    ran = true;
  });
  const { port } = await serve(app);
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"sku":');
  await arrived;
  socket.destroy();
  await gone;
  expect(ran).toBe(false);
});
