import { isExpress4 } from '../http/express-4';
import { mountPath4, rootTemplate, templatesOf, templatesOf4, type PathTemplate } from './path-templates';

/** A router, or an application, which has one. */
export type Routed = object;

/** Routers by the path that they are mounted at. */
export type Mounts = Readonly<Record<string, Routed>>;

/** What Express keeps of a call of `use`, `get` or `route`. */
export interface Layer {
  readonly handle: unknown;
  /** Express 5.3 and later: the path as it was given. */
  readonly rawPath?: unknown;
  /** Express 5: true for a mount at the root. */
  readonly slash?: boolean;
  /** Express 5: match the beginning of a path. */
  readonly matchers?: readonly ((path: string) => unknown)[];
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

/** Returns the layers of an application (Express 4 or 5) or router; none for any other function. */
export function stackOf(routed: Routed): readonly Layer[] {
  const { _router, stack } = routed as { readonly _router?: { stack: Layer[] }; readonly stack?: readonly Layer[] };
  // The getter `router` of an Express 4 application throws.
  const router =
    _router ??
    (stack === undefined && isExpress4(routed) ? undefined : (routed as { router?: { stack: Layer[] } }).router);
  return stack ?? router?.stack ?? [];
}

/** Returns true if a layer is an application that was mounted in another one: Express hides it behind a function. */
export const isApplication = (handle: unknown): boolean =>
  (handle as { readonly name?: string }).name === 'mounted_app';

/** Returns true if the routes of a router see the path parameters of its mount point. */
export const seesOuterParameters = (router: Routed): boolean =>
  (router as { readonly mergeParams?: boolean }).mergeParams === true;

export function isCaseSensitive(router: Routed): boolean {
  const { caseSensitive, enabled } = router as {
    readonly caseSensitive?: boolean;
    readonly enabled?: (setting: string) => boolean;
  };
  return caseSensitive ?? enabled?.call(router, 'case sensitive routing') ?? false;
}

/** Values of path parameters for which a middleware's own path is tried: it may take digits or a GUID only. */
const SAMPLES = ['any-7f3a', '7305196842', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'];

/** Returns true if requests for a path meet a layer, for some value of its parameters. */
export function matches({ slash, regexp, matchers = [] }: Layer, path: string): boolean {
  if (slash === true || regexp?.fast_slash === true) return true;
  return SAMPLES.some(sample => {
    const sent = path.replace(/\{[^}]*\}/g, sample);
    return regexp ? new RegExp(regexp).test(sent) : matchers.some(match => Boolean(match(sent)));
  });
}

/** Returns true if Express keeps the path that a layer is mounted at, so that `mountPaths` needs no `mounts`. */
export const keepsItsPath = ({ rawPath, regexp, slash }: Layer): boolean =>
  rawPath !== undefined || regexp !== undefined || slash === true;

/**
 * Returns the paths that a router is mounted at; none for regular expressions.
 * @throws TypeError if Express does not keep them and `mounts` does not name the router.
 */
export function mountPaths({ handle, rawPath, slash, regexp, keys = [] }: Layer, mounts: Mounts): PathTemplate[] {
  if (slash === true || regexp?.fast_slash === true) return [rootTemplate];
  if (rawPath !== undefined) return textsIn(rawPath).flatMap(templatesOf);
  const path4 = regexp && mountPath4(regexp, keys);
  if (path4 !== undefined) return templatesOf4(path4);
  const [path] = Object.entries(mounts).find(([, router]) => router === handle) ?? [];
  if (path !== undefined) return templatesOf(path);
  if (regexp) return [];
  if (stackOf(handle as Routed).length === 0) return [];
  throw new TypeError(
    'openapi: Express 5.0 to 5.2 do not keep the path that a router is mounted at. Name it in `mounts`, for example ' +
      "{ '/orders': ordersRouter }, or install Express 5.3.",
  );
}

/** Returns the paths of a route; none for regular expressions. */
export const routePaths = ({ path }: ExpressRoute, { regexp }: Layer): PathTemplate[] =>
  textsIn(path).flatMap(regexp ? templatesOf4 : templatesOf);

const textsIn = (paths: unknown): string[] =>
  [paths].flat<unknown[], typeof Infinity>(Infinity).filter(path => typeof path === 'string');

/** Methods that OpenAPI has a field for. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
/** Methods listed for `app.all()`, which answers every method. */
const METHODS_OF_ALL = ['get', 'put', 'post', 'delete', 'patch'];

/** Returns the methods of a route that OpenAPI can list. */
export function methodsOf({ methods }: ExpressRoute): readonly string[] {
  const named = Object.keys(methods).filter(method => methods[method]);
  const answersAll = methods['_all'] === true || named.length > METHODS.length;
  return answersAll ? METHODS_OF_ALL : METHODS.filter(one => named.includes(one));
}
