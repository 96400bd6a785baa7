import type { IncomingMessage, ServerResponse } from 'node:http';

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
  // Fastify's hooks get a function like `next`. Its requests emit no events, and have node's request in `raw`. One
  // without that may be the request of a test, with just the parts that are read.
  const { on } = Object(req) as Partial<IncomingMessage>;
  if (typeof next === 'function' && (typeof on === 'function' || !('raw' in req))) return;
  throw new TypeError(
    `${owner}: it was called with other arguments than Express passes (req, res, next). ` +
      'bindonce is for Express 4 and 5; Koa, Fastify and Hono pass others.',
  );
}

/**
 * Returns the values of a header, one for each line that was sent: `req.headers` joins repeated lines, or keeps the
 * first. A middleware may have set, changed or removed a header that was not repeated.
 * @param name in lower case.
 */
export function headerLines(name: string, { headers, rawHeaders }: IncomingMessage): readonly string[] | undefined {
  // `req.headers` has a prototype: no client has sent `constructor`.
  const current = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (current === undefined) return undefined;
  // Node's `headersDistinct` makes a list for every header that was sent.
  const sent: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const one = rawHeaders[at] ?? '';
    if (one.length === name.length && one.toLowerCase() === name) sent.push(rawHeaders[at + 1] ?? '');
  }
  if (sent.length > 1) return sent;
  return typeof current === 'string' ? [current] : current;
}

/** True where V8 gives new shapes to objects whose prototype was changed: up to Node 22. */
const SHAPES_ARE_LOST = parseInt(process.versions.v8, 10) < 13;

/**
 * Makes an Express request and its response quick to use.
 *
 * Express changes the prototypes of both. Up to Node 22, V8 then gives such an object a shape of its own with each
 * property that is added, and no later access to any of its properties finds that shape in a cache. Deleting a property
 * turns the object into a table of properties, and all tables have one shape. On Node 20, this saves more than a
 * quarter of the CPU time of a first request with `idempotency()`.
 */
export function shareShapes(req: IncomingMessage, res: ServerResponse): void {
  if (!SHAPES_ARE_LOST) return;
  // Two properties that Express sets; it does not matter which.
  putAgain(req, 'originalUrl');
  putAgain(res, 'locals');
}

function putAgain(object: object, name: string): void {
  const property = Object.getOwnPropertyDescriptor(object, name);
  if (!property?.configurable || !Object.isExtensible(object)) return;
  Reflect.deleteProperty(object, name);
  Reflect.defineProperty(object, name, property);
}
