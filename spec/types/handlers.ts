import express from 'express';
import { Router, type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import asyncHandler from 'express-async-handler';
import { Keyv } from 'keyv';
import { bindRequest, bool, dto, enumOf, fromHeader, hasPermission, idempotency, int, list, optional } from '../../lib';
import { queryParam, routeParam, string } from '../../lib';
import type { BoundRequest } from '../../lib';
import { holds, type Equal } from './equal';

/**
 * Handlers beside their routes, declared apart, wrapped, or kept in an array: what Express 4 needs, and what people
 * write. Nothing is cast; handlers.spec.ts runs the application.
 */

class OrderLine extends dto({ sku: string, quantity: int }) {}
class PlaceOrder extends dto({
  customerId: routeParam(int),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  items: list(OrderLine),
  rush: queryParam(bool, { default: false }),
  priority: enumOf(['low', 'high']),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {
  get pieces(): number {
    return this.items.reduce((sum, { quantity }) => sum + quantity, 0);
  }
}
class Rename extends dto({ name: string }) {}
class Other extends dto({ other: string }) {}

const chain = [idempotency({ store: new Keyv() }), bindRequest(Rename)] as const;

/** Handlers that are declared apart from their routes. */
const show = (req: BoundRequest<typeof Rename>, res: Response): void => {
  holds<Equal<typeof req.dto, Rename>>();
  res.json(req.dto.name);
};
const showLater = async (req: BoundRequest<typeof Rename>, res: Response): Promise<void> => {
  res.json(await Promise.resolve(req.dto.name));
};
const wrap =
  (fn: (req: Request, res: Response, next: NextFunction) => Promise<unknown>): RequestHandler =>
  (req, res, next) => {
    fn(req, res, next).catch(next);
  };
const pass = (_req: Request, _res: Response, next: NextFunction): void => {
  next();
};
export const plain: RequestHandler = bindRequest(Rename);
export const handlers: RequestHandler[] = [idempotency(), bindRequest(Rename), show];

export function shop(): Express {
  const app = express();
  app.post('/customers/:customerId/orders', idempotency({ store: new Keyv() }), bindRequest(PlaceOrder), (req, res) => {
    holds<Equal<typeof req.dto, PlaceOrder>>();
    holds<Equal<typeof req.params, { customerId: string }>>();
    res.locals['anything'] = req.dto.pieces;
    res.status(201).json({ param: req.params.customerId, pieces: req.dto.pieces, first: req.dto.items[0]?.sku });
  });
  const router = Router();
  router.put('/items/:id', bindRequest(Rename), (req, res, next) => {
    holds<Equal<typeof req.dto, Rename>>();
    holds<Equal<typeof req.params, { id: string }>>();
    if (req.dto.name === '') next();
    else res.json({ id: req.params.id, name: req.dto.name });
  });
  router.post('/lists', bindRequest(list(OrderLine)), (req, res) => {
    holds<Equal<typeof req.dto, OrderLine[]>>();
    res.json(req.dto.map(({ sku }) => sku));
  });
  router.post('/maybe', bindRequest(optional(list(int))), (req, res) => {
    holds<Equal<typeof req.dto, number[] | undefined>>();
    res.json(req.dto);
  });
  const waits = async (req: BoundRequest<typeof Rename>, _res: Response, next: NextFunction): Promise<void> => {
    await Promise.resolve(req.dto.name);
    next();
  };
  router.post('/several', bindRequest(Rename), waits, (req, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(req.dto.name);
  });
  router.post('/spread', ...chain, (req, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(req.dto.name);
  });
  router.post('/wrapped', idempotency(), bindRequest(Rename), wrap(showLater));
  router.post('/async-handler', idempotency(), bindRequest(Rename), asyncHandler(showLater));
  // Other middlewares may stand between, before and after.
  router.post('/between', express.json(), bindRequest(Rename), pass, plain, show);
  router.post('/array', handlers);
  router.post('/literal', [bindRequest(Rename), show]);
  // Without bindRequest the compiler cannot know what is there.
  router.post('/unbound', (req, res) => {
    const nothing: undefined = req.dto;
    res.json(nothing ?? null);
  });
  return app.use(router).use(bindRequest(Rename), (req, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(req.dto.name);
  });
}

/** What the compiler finds, and where it knows nothing of a dto. */
export function limits(app: Express, other: BoundRequest<typeof Other>): void {
  // @ts-expect-error -- a request of another dto
  show(other, other.res as Response);
  // @ts-expect-error -- a handler of another dto
  app.post('/other', bindRequest(Other), show);
  app.post('/:id', bindRequest(Rename), (req, res) => {
    // @ts-expect-error -- the dto has no such property
    res.json(req.dto.names);
    // @ts-expect-error -- the route has no such parameter
    res.json(req.params.customerId);
  });
  const knowsNothing = wrap(async req => Promise.resolve(holds<IsAny<typeof req.dto>>(req.dto)));
  // The wrapper says nothing of the dto that its handler gets; annotate it.
  app.post('/wrapped', bindRequest(Rename), knowsNothing);
  // A handler without annotations before bindRequest, or type arguments at the route, keep the compiler from looking.
  app.post(
    '/before/:id',
    (req, _res, next) => {
      holds<IsAny<typeof req.dto>>(req.dto);
      next();
    },
    bindRequest(Rename),
    req => holds<IsAny<typeof req.dto>>(req.dto),
  );
  app.post<{ id: string }>('/written/:id', bindRequest(Rename), req => holds<IsAny<typeof req.dto>>(req.dto));
  app.post('/without', req => holds<IsAny<typeof req.dto>>(req.dto));
}

type IsAny<T> = 0 extends 1 & T ? true : false;
