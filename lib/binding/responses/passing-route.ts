import { isDescribed } from '../../description/descriptions';

/** A route of Express, as far as this reads it. */
interface Route {
  readonly stack?: readonly { readonly method?: string; readonly handle: unknown }[];
}

/** Returns true if a middleware is one of the handlers of a route. */
export function isInRoute(middleware: unknown, route: unknown): boolean {
  return (route as Route | undefined)?.stack?.some(({ handle }) => handle === middleware) === true;
}

/**
 * Returns true if the handlers of a route end with one of bindonce: then its requests go on to the next route, whose
 * handler answers them.
 */
export function isPassingRoute(route: unknown, method: string): boolean {
  const methods = [method, ...(method === 'HEAD' ? ['GET'] : [])];
  const layers = ((route as Route).stack ?? []).filter(
    layer => layer.method === undefined || methods.includes(layer.method.toUpperCase()),
  );
  return isDescribed(lastHandler(layers.map(({ handle }) => handle)));
}

/** The number of parameters by which Express knows a handler of errors. */
const ERROR_HANDLER = 4;

/** Returns the last handler that gets requests: one of errors gets none. */
export function lastHandler(handlers: readonly unknown[]): ((...args: unknown[]) => unknown) | undefined {
  return handlers
    .filter(handle => typeof handle === 'function')
    .filter(({ length }) => length !== ERROR_HANDLER)
    .at(-1) as ((...args: unknown[]) => unknown) | undefined;
}
