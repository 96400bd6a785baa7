/* eslint-disable @typescript-eslint/no-explicit-any -- Express's own types are spelled with it. */
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Next } from '../http/next';
import type { AnyType, Infer } from './types/property-type';

/** The key under which the type of `req.dto` rides in Express's Locals parameter; no value is ever stored under it. */
export declare const BOUND: unique symbol;

/**
 * Locals of a request behind `bindRequest`; `res.locals.anything` stays usable. The key is optional, so that what `bindRequest`
 * returns is also a plain `RequestHandler`.
 */
export type BoundLocals<T> = Record<string, any> & { [BOUND]?: readonly [dto: T] };

declare global {
  // Not `declare module 'express-serve-static-core'`: where package managers keep packages apart, ours is another copy of it than
  // the application's. The global interface is one, and `this` is the request with its type parameters.
  // eslint-disable-next-line @typescript-eslint/no-namespace -- the place that Express's types have for what middlewares add
  namespace Express {
    interface Request {
      /**
       * The dto of this request; set by `bindRequest()`. Where the compiler sees no `bindRequest()` it is `any`, the one type with
       * which a handler of a {@link BoundRequest} is also a handler of a plain request, and the other way round.
       */
      dto: this extends { res?: { locals: infer L } | undefined } ? BoundTo<L> : any;
    }
  }
}

/** The type of the dto that the Locals of a request carry. */
export type BoundTo<LocalsObj> = typeof BOUND extends keyof LocalsObj
  ? LocalsObj extends { [BOUND]?: readonly [dto: infer D] }
    ? D
    : any
  : any;

/** What `bindRequest(Dto)` returns. It names no parameter of the request but the Locals, so that the others stay inferred. */
export type BindHandler<T> = (req: IncomingMessage, res: Response<any, BoundLocals<T>>, next: Next) => void;

/** The request of a handler that is declared apart from its route: `(req: BoundRequest<typeof PlaceOrder>, res: Response) => …`. */
export type BoundRequest<D extends AnyType> = Request<
  Request['params'],
  any,
  any,
  Request['query'],
  BoundLocals<Infer<D>>
>;
