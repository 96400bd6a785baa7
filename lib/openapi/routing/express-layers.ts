import { isExpress4 } from '../../http/express-4';

/** A router, or an application, which has one. */
export type Routed = (...args: never[]) => unknown;

/** The record that Express keeps of a call of `use`, `get` or `route`. */
export interface Layer {
  readonly handle: unknown;
  /** Express 5.3 and later: the path as it was given. */
  readonly rawPath?: unknown;
  /** Express 5: true for a mount at the root. */
  readonly slash?: boolean;
  /** Express 5: match the beginning of a path. */
  readonly matchers?: readonly ((path: string) => false | { readonly path: string })[];
  /** Express 4. */
  readonly regexp?: RegExp & { readonly fast_slash?: boolean };
  readonly keys?: readonly { readonly name: string | number }[];
  readonly route?: ExpressRoute;
}

export interface ExpressRoute {
  readonly path: unknown;
  readonly methods: Readonly<Record<string, boolean>>;
  readonly stack: readonly { readonly method?: string; readonly handle: unknown }[];
}

interface ExpressRouter {
  readonly stack: readonly Layer[];
  readonly caseSensitive?: boolean;
  readonly strict?: boolean;
}

/** Returns the router of an application (Express 4 or 5), or a router itself; undefined for any other function. */
function routerOf(routed: Routed): ExpressRouter | undefined {
  const own = routed as Partial<ExpressRouter> & { readonly _router?: ExpressRouter };
  if (own.stack) return own as ExpressRouter;
  // The getter `router` of an Express 4 application throws.
  return own._router ?? (isExpress4(routed) ? undefined : (routed as { readonly router?: ExpressRouter }).router);
}

/** Returns the layers of an application or router, each with what was mounted there; none for any other function. */
export const stackOf = (routed: Routed): readonly Layer[] =>
  (routerOf(routed)?.stack ?? []).map(layer => ({ ...layer, handle: mountedIn(layer) }));

/** Where a function that replaces another one keeps it: shimmer, which OpenTelemetry wraps with, and Sentry. */
const ORIGINALS = ['__original', '__sentry_original__'];

/**
 * Returns what was mounted. A tracer replaces it in its layer by a function of its own, which has neither its name nor
 * its description.
 */
function mountedIn({ handle }: { readonly handle: unknown }): unknown {
  const kept = handle as Readonly<Record<string, unknown>>;
  const original = ORIGINALS.map(name => kept[name]).find(one => typeof one === 'function');
  // OpenTelemetry marks a handler of errors, which it does not replace, as its own original.
  return original === undefined || original === handle ? handle : mountedIn({ handle: original });
}

/** Returns true if `/A` and `/a` are two paths to a router. */
export const isCaseSensitive = (routed: Routed): boolean => routerOf(routed)?.caseSensitive ?? false;

/** Returns true if `/a/` and `/a` are two paths to a router. */
export const isStrict = (routed: Routed): boolean => routerOf(routed)?.strict ?? false;

/** Returns true if a layer is an application that was mounted in another one: Express hides it behind a function. */
export const isApplication = (handle: unknown): boolean =>
  (handle as { readonly name?: string }).name === 'mounted_app';

/** Returns true if the routes of a router see the path parameters of its mount point. */
export const seesOuterParameters = (router: Routed): boolean =>
  (router as { readonly mergeParams?: boolean }).mergeParams === true;

/** Methods that OpenAPI has a field for. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
/** Methods listed for `all()`, which is for every method. */
const METHODS_OF_ALL = ['get', 'put', 'post', 'delete', 'patch'];

/** Returns the methods of a route that OpenAPI can list. */
export function methodsOf(route: ExpressRoute): readonly string[] {
  return METHODS.filter(one => namesMethod(route, one) || (isForAll(route) && METHODS_OF_ALL.includes(one)));
}

/** Returns true if a route has handlers of its own for a method. */
export function namesMethod(route: ExpressRoute, method: string): boolean {
  return route.methods[method] === true && !isOfApplication(route);
}

const isForAll = (route: ExpressRoute): boolean => route.methods['_all'] === true || isOfApplication(route);

/** Returns true for a route of `app.all()` of Express 4, and 5, which name every method. */
function isOfApplication({ methods }: ExpressRoute): boolean {
  return Object.values(methods).filter(Boolean).length > METHODS.length;
}
