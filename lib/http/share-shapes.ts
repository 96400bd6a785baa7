import type { IncomingMessage, ServerResponse } from 'node:http';

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
