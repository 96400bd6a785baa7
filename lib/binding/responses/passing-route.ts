import { isDescribed } from '../../description/descriptions';

/** A route of Express, as far as this reads it. */
interface Route {
  readonly stack?: readonly { readonly method?: string; readonly handle: unknown }[];
}

/** The number of parameters by which Express knows a handler of errors. */
export const ERROR_HANDLER = 4;

/**
 * Returns true if the handlers of a route end with one of bindonce: then its requests go on to the next route, whose
 * handler answers them.
 */
export function passesOn(route: unknown, method: string): boolean {
  const methods = [method, ...(method === 'HEAD' ? ['GET'] : [])];
  const last = ((route as Route).stack ?? [])
    .filter(layer => layer.method === undefined || methods.includes(layer.method.toUpperCase()))
    .map(({ handle }) => handle)
    .filter(handle => typeof handle === 'function' && handle.length !== ERROR_HANDLER)
    .at(-1);
  return isDescribed(last);
}
