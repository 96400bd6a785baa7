/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unused-vars -- Express's own types are spelled with them, and an augmentation must repeat them to the letter. */
import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { ParamsDictionary } from 'express-serve-static-core';
import type { ParsedQs } from 'qs';
import type { Next } from '../problems/answer';
import type { AnyType, Infer } from './types/property-type';

/** The key under which the type of `req.dto` rides in Express's Locals parameter; no value is ever stored under it. */
export declare const BOUND: unique symbol;

/**
 * Locals of a request behind `bindRequest`; `res.locals.anything` stays usable. The key is optional, so that what `bindRequest`
 * returns is also a plain `RequestHandler`.
 */
export type BoundLocals<T> = Record<string, any> & { [BOUND]?: readonly [dto: T] };

declare module 'express-serve-static-core' {
  // The type parameters must be letter-identical to those of @types/express-serve-static-core.
  interface Request<P = ParamsDictionary, ResBody = any, ReqBody = any, ReqQuery = ParsedQs, LocalsObj extends Record<string, any> = Record<string, any>> {
    /**
     * The dto of this request; set by `bindRequest()`. Where the compiler sees no `bindRequest()` it is `any`, the one type with
     * which a handler of a {@link BoundRequest} is also a handler of a plain request, and the other way round.
     */
    dto: BoundTo<LocalsObj>;
  }
}

/** The type of the dto that the Locals of a request carry. */
export type BoundTo<LocalsObj> = typeof BOUND extends keyof LocalsObj
  ? LocalsObj extends { [BOUND]?: readonly [dto: infer D] } ? D : any
  : any;

/** What `bindRequest(Dto)` returns. It names no parameter of the request but the Locals, so that the others stay inferred. */
export type BindHandler<T> = (req: IncomingMessage, res: Response<any, BoundLocals<T>>, next: Next) => void;

/** The request of a handler that is declared apart from its route: `(req: BoundRequest<typeof PlaceOrder>, res: Response) => …`. */
export type BoundRequest<D extends AnyType> = Request<ParamsDictionary, any, any, ParsedQs, BoundLocals<Infer<D>>>;
