import express, { Router, type Express, type Request, type Response } from 'express';
import { Keyv } from 'keyv';
import {
  bindRequest,
  bool,
  decimal,
  dto,
  enumOf,
  field,
  fromHeader,
  hasPermission,
  idempotency,
  int,
  list,
  long,
  optional,
  queryParam,
  routeParam,
  string,
  type BoundRequest,
} from '../../lib';
import { holds, type Equal } from './equal';

/** An application in which nothing is cast; it is compiled here and run by its spec. */

class OrderLine extends dto({ sku: string, quantity: int, unitPrice: optional(decimal) }) {}

class PlaceOrder extends dto({
  customerId: routeParam(int),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  items: field(list(OrderLine)),
  rush: queryParam(bool, { default: false }),
  note: field(string, { required: false }),
  reference: optional(long),
  priority: enumOf(['low', 'high']),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {
  get pieces(): number {
    return this.items.reduce((sum, { quantity }) => sum + quantity, 0);
  }
}

class Rename extends dto({ name: string }) {}

export function shop(): Express {
  const app = express();

  app.post('/customers/:customerId/orders', idempotency({ store: new Keyv() }), bindRequest(PlaceOrder), (req, res) => {
    holds<Equal<typeof req.dto, PlaceOrder>>();
    holds<Equal<typeof req.params, { customerId: string }>>();
    res.locals['anything'] = req.dto.pieces;
    res.status(201).json({
      param: req.params.customerId,
      pieces: req.dto.pieces,
      note: req.dto.note ?? null,
      first: req.dto.items[0]?.sku,
      anything: res.locals['anything'] as unknown,
    });
  });

  const router = Router();
  router.put('/items/:id', bindRequest(Rename), (req, res, next) => {
    holds<Equal<typeof req.dto, Rename>>();
    holds<Equal<typeof req.params, { id: string }>>();
    if (req.dto.name === '') next();
    else res.json({ id: req.params.id, name: req.dto.name });
  });

  // The body as a list is a list.
  router.post('/lists', bindRequest(list(OrderLine)), (req, res) => {
    holds<Equal<typeof req.dto, OrderLine[]>>();
    res.json(req.dto.map(({ sku }) => sku));
  });

  // Asynchronous handlers, and several of them.
  router.post(
    '/several',
    bindRequest(Rename),
    async (req, _res, next) => {
      holds<Equal<typeof req.dto, Rename>>();
      await Promise.resolve(req.dto.name);
      next();
    },
    (req, res) => {
      holds<Equal<typeof req.dto, Rename>>();
      res.json(req.dto.name);
    },
  );

  router.post('/apart', bindRequest(Rename), apart);
  router.post('/spread', ...chain, (req, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(req.dto.name);
  });

  // Other middlewares may stand between, before and after.
  router.post(
    '/between',
    express.json(),
    bindRequest(Rename),
    (_req: Request, _res: Response, next: () => void) => {
      next();
    },
    apart,
  );

  // Without bindRequest the compiler cannot know what is there.
  router.post('/unbound', (req, res) => {
    const nothing: undefined = req.dto;
    res.json(nothing ?? null);
  });

  return app.use(router);
}

const chain = [idempotency({ store: new Keyv() }), bindRequest(Rename)] as const;

/** A handler that is declared apart from its route. */
function apart(req: BoundRequest<typeof Rename>, res: Response): void {
  holds<Equal<typeof req.dto, Rename>>();
  res.json(req.dto.name);
}

/** A handler of another dto does not fit behind this one. */
export function mismatched(app: Express): void {
  const wants = (req: BoundRequest<typeof PlaceOrder>, res: Response): void => {
    res.json(req.dto.pieces);
  };
  // @ts-expect-error -- a handler for a PlaceOrder behind a binder of Rename
  app.post('/', bindRequest(Rename), wants);
  app.post('/', bindRequest(Rename), (req, res) => {
    // @ts-expect-error -- the dto has no such property
    res.json(req.dto.names);
  });
  app.post('/:id', bindRequest(Rename), (req, res) => {
    // @ts-expect-error -- the route has no such parameter
    res.json(req.params.customerId);
  });
}
