import type { IncomingMessage } from 'node:http';

/** The `next` of Express: goes on with the next middleware, or with the error handlers. */
export type Next = (error?: unknown) => void;

/** Returns true for an application of Express 4: those of Express 5 have no `lazyrouter()`. */
export const isExpress4 = (app: unknown): boolean => typeof app === 'function' && 'lazyrouter' in app;

/**
 * Checks that Express, or an adapter that passes what Express does, has called a middleware.
 * @param owner the public name of the middleware, for the message.
 * @throws TypeError for arguments of other frameworks. It is thrown at once: without `next`, a later error could be
 * reported to no one, and would end the process.
 */
export function requireExpressArguments(owner: string, req: IncomingMessage, next: unknown): void {
  if (typeof next === 'function' && !isOfFastify(req)) return;
  throw new TypeError(
    `${owner}: it was called with other arguments than Express passes (req, res, next). ` +
      'bindonce is for Express 4 and 5; Koa, Fastify and Hono pass others.',
  );
}

/**
 * Returns true for a request of Fastify, whose hooks get a function like `next`: it emits no events, and has node's
 * request in `raw`. An object without `raw` may be the request of a test, with just the parts that are read.
 */
const isOfFastify = (req: IncomingMessage): boolean =>
  typeof (req as Partial<IncomingMessage>).on !== 'function' && 'raw' in req;
