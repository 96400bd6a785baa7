import { isExpress4 } from '../http/express-4';
import {
  below,
  mountPaths4,
  rootTemplate,
  shapeOf,
  templatesOf,
  templatesOf4,
  type PathTemplate,
  distinct,
} from './path-templates';

/** A router, or an application, which has one. */
export type Routed = object;

/** Routers by the path that they are mounted at. */
export type Mounts = Readonly<Record<string, Routed>>;

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

/** Returns the layers of an application or router; none for any other function. */
export const stackOf = (routed: Routed): readonly Layer[] => routerOf(routed)?.stack ?? [];

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

/** Values of path parameters for which a middleware's own path is tried: it may take digits or a GUID only. */
const SAMPLES = ['any-7f3a', '7305196842', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'];

/** Returns true if requests for a path meet a layer, for some value of its parameters. */
export const matches = (layer: Layer, path: string): boolean =>
  layer.slash === true || layer.regexp?.fast_slash === true || matchesOf(layer, path).length > 0;

/** Returns true if a layer is mounted at a path, and not only before it. */
const isMountedAt = (layer: Layer, path: string): boolean =>
  matchesOf(layer, path).some(([sent, matched]) => sent === matched);

/**
 * Returns true if a layer that is mounted at a path takes more of a longer one than that, so that requests for the
 * longer one do not get to it: mounted at `/m{/:o}`, it takes all of `/m/x`.
 */
export function takesMore(layer: Layer, mountedAt: PathTemplate, path: string): boolean {
  const taken = matchesOf(layer, path).map(([, matched]) => segmentsOf(matched));
  return taken.length > 0 && taken.every(one => one > segmentsOf(mountedAt.path));
}

const segmentsOf = (path: string): number => path.split('/').filter(Boolean).length;

/** Returns the paths that are tried, each with the part of it that a layer takes. */
function matchesOf({ regexp, matchers = [] }: Layer, path: string): (readonly [sent: string, matched: string])[] {
  return SAMPLES.flatMap(sample => {
    const sent = path.replace(/\{[^}]*\}/g, sample);
    const found = regexp
      ? [new RegExp(regexp).exec(sent)?.[0]]
      : matchers.map(match => (match(sent) || undefined)?.path);
    return found.flatMap(matched => (matched === undefined ? [] : [[sent, matched] as const]));
  });
}

/** Returns true if Express keeps the path that a layer is mounted at, so that `mountPaths` needs no `mounts`. */
export const keepsItsPath = ({ rawPath, regexp, slash }: Layer): boolean =>
  rawPath !== undefined || regexp !== undefined || slash === true;

/**
 * Returns the paths that a router is mounted at; none for regular expressions. `mounts` may name them from the root or
 * from the router around it.
 * @throws TypeError if Express does not keep them and `mounts` does not name the router there.
 */
export function mountPaths(layer: Layer, mounts: Mounts, prefix: PathTemplate): PathTemplate[] {
  const { handle, rawPath, slash, regexp, keys = [] } = layer;
  if (slash === true || regexp?.fast_slash === true) return [rootTemplate];
  if (rawPath !== undefined) return textsIn(rawPath).flatMap(templatesOf);
  const paths4 = regexp && mountPaths4(regexp, keys);
  if (paths4) return paths4.flatMap(templatesOf4);
  const named = Object.entries(mounts).flatMap(([path, router]) => (router === handle ? templatesOf(path) : []));
  const fromRoot = named.filter(one => shapeOf(one).startsWith(shapeOf(prefix))).map(one => below(one, prefix));
  const here = distinct([...fromRoot, ...named]).filter(({ path }) => isMountedAt(layer, path));
  if (here.length > 0 || regexp) return here;
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
