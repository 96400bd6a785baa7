import express, { type Request, type Response } from 'express';
import { connect } from 'node:net';
import { bindRequest, dto, int, queryParam, routeParam, string } from '../../lib';
import { serve } from '../support/serve';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';

class Paged extends dto({ page: queryParam(int, { default: 1 }) }) {}
class Order extends dto({ customerId: routeParam(int), sku: string }) {}

it.each(expressVersions)('a dto for the whole application, and one for the route: %s', async (_name, framework) => {
  const seen: unknown[] = [];
  const see = (req: Request, _res: Response, next: () => void): void => {
    seen.push(req.dto);
    next();
  };
  const app = framework().use(bindRequest(Paged), see);
  app.post('/:customerId', bindRequest(Order), see, (_req, res) => void res.end());
  await ask(app, { path: '/7?page=2', json: { sku: 'tea' } });
  expect(seen).toEqual([{ page: 2 }, { customerId: 7, sku: 'tea' }]);
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
  app.post('/', bindRequest(dto({ sku: string })), () => {
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
