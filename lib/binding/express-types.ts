/* eslint-disable @typescript-eslint/no-explicit-any -- Express's own types use it. */
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Next } from '../http/express';
import type { AnyType, Infer } from './types/property-type';

/**
 * The key under which Express's Locals parameter carries the type of `req.dto`, for types that are written without
 * `bindRequest`: `Response<unknown, { [BOUND]?: readonly [dto: PlaceOrder] }>`. No value is ever stored under it.
 */
export const BOUND: unique symbol = Symbol.for('bindonce.bound');

/**
 * Locals of a request behind `bindRequest`; `res.locals.anything` stays usable. The key is optional, so that the result
 * of `bindRequest` is also a plain `RequestHandler`.
 */
export type BoundLocals<T> = Record<string, any> & { [BOUND]?: readonly [dto: T] };

declare global {
  // Not `declare module 'express-serve-static-core'`: if a package manager isolates packages, bindonce sees another
  // copy of it than the application's. The global interface is one, and `this` is the request with its type parameters.
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Express's types are extended in this namespace
  namespace Express {
    interface Request {
      /**
       * The dto of this request, set by `bindRequest()`. Where the compiler sees no `bindRequest()` it is `any`, the
       * only type with which a handler of a {@link BoundRequest} is also a handler of a plain request, and the other
       * way round.
       */
      dto: this extends { res?: { locals: infer L } | undefined } ? BoundTo<L> : any;
    }
  }
}

/** The type of the dto that a request's Locals carry. */
export type BoundTo<LocalsObj> = typeof BOUND extends keyof LocalsObj
  ? LocalsObj extends { [BOUND]?: readonly [dto: infer D] }
    ? D
    : any
  : any;

/**
 * The result of `bindRequest(Dto)`. It sets only the Locals parameter of the request, so that the others stay inferred.
 */
export type BindHandler<T> = (req: IncomingMessage, res: Response<any, BoundLocals<T>>, next: Next) => void;

/**
 * The request of a handler declared apart from its route: `(req: BoundRequest<typeof PlaceOrder>, res: Response) => …`.
 */
export type BoundRequest<D extends AnyType> = Request<
  Request['params'],
  any,
  any,
  Request['query'],
  BoundLocals<Infer<D>>
>;
