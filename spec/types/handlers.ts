import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import asyncHandler from 'express-async-handler';
import { bindRequest, dto, idempotency, int, list, optional, routeParam, string, type BoundRequest } from '../../lib';
import { holds, type Equal } from './equal';

/** Handlers that are declared apart from their route, wrapped, or kept in an array: what Express 4 needs, and what people write. */

class Rename extends dto({ id: routeParam(int), name: string }) {}
class Other extends dto({ other: string }) {}

const wrap =
  (fn: (req: Request, res: Response, next: NextFunction) => Promise<unknown>): RequestHandler =>
  (req, res, next) => {
    fn(req, res, next).catch(next);
  };

export const app = express();

app.post(
  '/wrapped/:id',
  idempotency(),
  bindRequest(Rename),
  wrap(async (req: BoundRequest<typeof Rename>, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(await Promise.resolve(req.dto.name));
  }),
);

app.post(
  '/async-handler/:id',
  idempotency(),
  bindRequest(Rename),
  asyncHandler(async (req: BoundRequest<typeof Rename>, res) => {
    holds<Equal<typeof req.dto, Rename>>();
    res.json(await Promise.resolve(req.dto.name));
  }),
);

app.post('/maybe', bindRequest(optional(list(int))), (req, res) => {
  holds<Equal<typeof req.dto, number[] | undefined>>();
  res.json(req.dto);
});

app.use(bindRequest(Rename), (req, res) => {
  holds<Equal<typeof req.dto, Rename>>();
  res.json(req.dto.name);
});

const show = (req: BoundRequest<typeof Rename>, res: Response): void => {
  res.json(req.dto.name);
};
export const plain: RequestHandler = bindRequest(Rename);
export const handlers: RequestHandler[] = [
  idempotency(),
  bindRequest(Rename),
  show,
  (_req, res) => {
    res.end();
  },
];
app.post('/array', handlers);
app.post('/spread', ...handlers);
app.post('/literal', [bindRequest(Rename), show]);
app.post(
  '/plain/:id',
  bindRequest(Rename),
  (_req: Request, _res: Response, next: NextFunction) => {
    next();
  },
  plain,
  show,
);

/** What the compiler finds, and where it knows nothing of a dto. */
export function limits(other: BoundRequest<typeof Other>): void {
  // @ts-expect-error -- a request of another dto
  show(other, other.res as Response);
  // @ts-expect-error -- a handler of another dto
  app.post('/other', bindRequest(Other), show);
  // The wrapper says nothing of the dto that its handler gets; annotate it.
  app.post(
    '/wrapped',
    bindRequest(Rename),
    wrap(async req => {
      holds<IsAny<typeof req.dto>>(req.dto);
      return Promise.resolve();
    }),
  );
  // A handler without annotations before bindRequest, or type arguments at the route, keep the compiler from looking.
  app.post(
    '/before/:id',
    (req, _res, next) => {
      holds<IsAny<typeof req.dto>>(req.dto);
      next();
    },
    bindRequest(Rename),
    req => {
      holds<IsAny<typeof req.dto>>(req.dto);
    },
  );
  app.post<{ id: string }>('/written/:id', bindRequest(Rename), req => {
    holds<IsAny<typeof req.dto>>(req.dto);
  });
  app.post('/without', req => {
    holds<IsAny<typeof req.dto>>(req.dto);
  });
}

type IsAny<T> = 0 extends 1 & T ? true : false;
