import { endpoints, type Endpoint } from '../../binding/endpoint';
import { lastHandler } from '../../binding/responses/passing-route';
import { isDescribed } from '../../description/descriptions';
import { guards } from '../../idempotency/idempotency';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import type { Handler, SeenKeys } from './seen-keys';

/** The descriptions of the middlewares of one route. */
export interface RouteMiddlewares {
  readonly guard: ResolvedOptions | undefined;
  /** Each binds the same request; the handler gets the dto of the last one. */
  readonly endpoints: readonly Endpoint[];
  /** How each of them sees the parameters of the path. */
  readonly keysOf: ReadonlyMap<Endpoint, SeenKeys>;
}

/**
 * Finds the middlewares among the handlers of a route: the first one of several `idempotency()` guards it, and each
 * `bindRequest()` binds.
 */
export function middlewaresOf(handlers: readonly Handler[], method: string): RouteMiddlewares {
  const guard = handlers
    .flatMap(({ handle }) => guards.of(handle) ?? [])
    .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase()));
  const keysOf = new Map<Endpoint, SeenKeys>();
  for (const { handle, keys } of handlers) {
    const endpoint = endpoints.of(handle);
    if (endpoint && !keysOf.has(endpoint)) keysOf.set(endpoint, keys);
  }
  return { guard, endpoints: [...keysOf.keys()], keysOf };
}

/**
 * Returns true if requests get from a route to those behind it: for certain, if bindonce made its last handler. A
 * handler that takes no `next` answers, and so does, in all likelihood, one that gets a dto.
 */
export function passesOn(handlers: readonly unknown[]): boolean {
  const last = lastHandler(handlers);
  if (!last || isDescribed(last)) return true;
  // A function of rest parameters has the length 0.
  const takesNext = last.length === 0 || last.length > 2;
  return takesNext && !handlers.some(one => endpoints.of(one));
}
