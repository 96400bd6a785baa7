import express, { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { connect } from 'node:net';
import {
  bindRequest,
  bool,
  configure,
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
import { REFUSED } from '../../lib/problems/answer';
import { serve } from '../support/serve';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';
import { bind } from '../support/one-endpoint';
import { signal } from '../support/signal';

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
  it('fills one dto from the whole request', async () => {
    const { dto: bound } = await bind(
      PlaceOrder,
      { path: `/customers/${ID}/orders?rush=true`, json, headers },
      { framework, route: '/customers/:customerId/orders', user },
    );
    expect(bound).toBeInstanceOf(PlaceOrder);
    expect(bound).toMatchObject({ customerId: ID, tenant: 'acme', rush: true, userId: 'u1', mayDiscount: true });
    expect(bound?.items.map(({ sku, quantity, unitPrice }) => [sku, quantity, unitPrice.toFixed()])).toEqual([
      ['tea', 2, '4.5'],
      ['pot', 1, '0.1000000000000000055'],
    ]);
  });

  it('in nested routers and in an application inside an application', async () => {
    const app = framework();
    const inner = framework();
    const router = Router({ mergeParams: true });
    const handler = (req: Request, res: Response): void => {
      res.json({ tenant: (req.dto as PlaceOrder).tenant, id: (req.dto as PlaceOrder).customerId });
    };
    router.post(
      '/orders',
      (req, _res, next) => {
        Object.assign(req, { user });
        next();
      },
      bindRequest(PlaceOrder),
      handler,
    );
    inner.use('/customers/:customerId', router);
    app.use('/api', inner);
    const { body } = await ask(app, { path: `/api/customers/${ID}/orders`, headers, json });
    expect(body).toEqual({ tenant: 'acme', id: ID });
  });

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

  it('an anonymous caller is told how to authenticate where allowAnonymous is false, before anything is read', async () => {
    const {
      status,
      problem,
      response,
      dto: bound,
    } = await bind(PlaceOrder, { json: '{' }, { framework, allowAnonymous: false });
    expect([status, problem?.type, response.headers['www-authenticate'], bound]).toEqual([
      401,
      'urn:bindonce:unauthenticated',
      'Bearer',
      undefined,
    ]);
    expect(
      (await bind(PlaceOrder, { json: '{' }, { framework, allowAnonymous: false, user: { sub: 'a' } })).status,
    ).toBe(400);
  });

  it('an error of the application goes to its error handler', async () => {
    const { status, response } = await bind(
      PlaceOrder,
      {},
      {
        framework,
        permissions: () => {
          throw new Error('directory is down');
        },
      },
    );
    expect([status, response.text]).toEqual([500, 'directory is down']);
  });

  it('a response that other code has begun is left alone', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => {
      rejections.push(reason);
    };
    process.on('unhandledRejection', note);
    const app = framework();
    const closed = new Promise(resolve => {
      app.use((_req: Request, res: Response, next: () => void) => {
        res.once('close', resolve).status(503).end('busy');
        next();
      });
    });
    app.post('/', bindRequest(PlaceOrder));
    app.use((_error: Error, _req: Request, _res: Response, next: () => void) => {
      next();
    });
    const { status, text } = await ask(app, { headers, json: '{"items":1}' });
    await closed;
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect([status, text, rejections]).toEqual([503, 'busy', []]);
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

it('a body on disk that is bound when its client has gone is no mistake of the application', async () => {
  const long = { limits: { bodyBytes: 5_000_000 } };
  class Note extends dto({ text: string }) {}
  const refused = signal();
  const errors: Error[] = [];
  const app = express();
  app.post('/', bindRequest(Note, long) as RequestHandler, (req, res, next) => {
    Object.assign(req, { idempotency: { [REFUSED]: refused.happens } });
    res.once('close', () => {
      next();
    });
    req.socket.destroy();
  });
  app.post('/', bindRequest(Note, long) as RequestHandler);
  app.use(((error: Error, _req, res, next) => {
    errors.push(error);
    if (!res.headersSent) next(error);
  }) as ErrorRequestHandler);
  const { url } = await serve(app);
  await ask(url, { json: { text: 'x'.repeat(3_000_000) } }).catch(() => undefined);
  await refused.happened;
  await new Promise(setImmediate);
  expect(errors).toEqual([]);
});

it('configure() sets defaults for an application, and options of an endpoint win', async () => {
  const configured = configure({ binding: { allowAnonymous: false, allowFormData: { urlEncoded: true } } });
  class Item extends dto({ sku: string }) {}
  const app = express();
  app.post('/closed', configured.bindRequest(Item), (req, res) => {
    res.json(req.dto);
  });
  app.post('/open', configured.bindRequest(Item, { allowAnonymous: true }), (req, res) => {
    res.json(req.dto);
  });
  app.post('/plain', bindRequest(Item), (req, res) => {
    res.json(req.dto);
  });
  const statuses = await Promise.all(
    ['/closed', '/open', '/plain'].map(async path => (await ask(app, { path, form: 'sku=a' })).status),
  );
  expect(statuses).toEqual([401, 200, 415]);
});

it('a hundred concurrent requests each get their own dto', async () => {
  class Item extends dto({ n: int, q: queryParam(int) }) {}
  const app = express().post('/', bindRequest(Item), (req, res) => {
    setImmediate(() => res.json(req.dto));
  });
  const { url } = await serve(app);
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const answers = await Promise.all(numbers.map(n => ask(url, { path: `/?q=${n}`, json: { n } })));
  expect(answers.map(({ body }) => body as unknown)).toEqual(numbers.map(n => ({ n, q: n })));
});
