import { isDescribed } from '../description/descriptions';
import { isExpress4 } from '../http/express';
import { describe } from '../options/check';
import { joined, mountPaths4, templatesOf, templatesOf4 } from './express-paths';

/** A router, or an application, which has one. */
export type Routed = (...args: never[]) => unknown;

/** Routers by the path that they are mounted at, from the root. */
export type Mounts = Readonly<Record<string, Routed>>;

/** A method and path of an application, with the handlers of its requests in their order. */
export interface Route {
  readonly method: string;
  readonly path: string;
  /** Of the middlewares in front of the route, those of bindonce. */
  readonly handlers: readonly unknown[];
}

/** The record that Express keeps of a call of `use`, `get` or `route`. */
interface Layer {
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

interface ExpressRoute {
  readonly path: unknown;
  readonly methods: Readonly<Record<string, boolean>>;
  readonly stack: readonly { readonly method?: string; readonly handle: unknown }[];
}

/**
 * Finds the routes of an application or router, those of nested routers included. A path that is a regular expression
 * has no template, so its route is left out.
 * @param mounts routers that cannot be found, or whose path is unknown: applications that are mounted in others, and
 * under Express 5.0 to 5.2 all routers that are mounted at a path.
 * @throws TypeError for a nested router whose path is unknown.
 */
export function routesOf(app: Routed, mounts: Mounts = {}): readonly Route[] {
  checkRouters('openapi', app, mounts);
  const walk = new Walk(mounts);
  walk.into(app, '', []);
  const others = Object.entries(mounts).filter(([, router]) => !walk.routers.has(router));
  for (const [path, router] of others) for (const prefix of templatesOf(path)) walk.into(router, prefix, []);
  return walk.routes;
}

/**
 * @param owner the function that takes them, for the message.
 * @throws TypeError for a value that is not an application or router.
 */
export function checkRouters(owner: 'openapi' | 'apiDocs', app: unknown, mounts: Mounts = {}): void {
  const named = Object.entries(mounts).map(([path, router]) => [`${path} in the option mounts`, router] as const);
  for (const [what, router] of [['the first argument', app] as const, ...named])
    if (typeof router !== 'function')
      throw new TypeError(
        `${owner}: ${what} must be an Express application or router, not ${describe(router)}. ` +
          'Pass what express() or express.Router() has returned.',
      );
}

class Walk {
  readonly routes: Route[] = [];
  readonly routers = new Set<unknown>();
  /** The middlewares of bindonce that are no part of a route, and whether requests for a path meet them. */
  private readonly inFront: { readonly handle: unknown; readonly isMetBy: (path: string) => boolean }[] = [];

  constructor(private readonly mounts: Mounts) {}

  /** @param around the routers around this one: a router can be mounted in itself. */
  into(router: Routed, prefix: string, around: readonly Routed[]): void {
    if (around.includes(router)) return;
    this.routers.add(router);
    for (const layer of stackOf(router)) {
      const { handle, route } = layer;
      const isMetBy = (path: string): boolean => matchedPart(layer, restOf(path, prefix)) !== undefined;
      if (route) this.addRoutes(route, prefix, textsIn(route.path).flatMap(layer.regexp ? templatesOf4 : templatesOf));
      else if (isDescribed(handle)) this.inFront.push({ handle, isMetBy });
      else for (const [nested, path] of this.routersIn(layer, prefix)) this.into(nested, path, [...around, router]);
    }
  }

  private addRoutes(route: ExpressRoute, prefix: string, paths: readonly string[]): void {
    for (const own of paths) {
      const path = (own === '/' ? prefix : joined(prefix, own)) || '/';
      const met = this.inFront.filter(one => one.isMetBy(sampleOf(path)));
      for (const method of methodsOf(route)) {
        const layers = route.stack.filter(one => one.method === undefined || one.method === method);
        this.routes.push({ method, path, handlers: [...met, ...layers].map(({ handle }) => handle) });
      }
    }
  }

  /**
   * Finds the routers that a layer holds, with their whole paths; none for regular expressions.
   * @throws TypeError if Express does not keep the path of a router, and `mounts` does not name it.
   */
  private routersIn(layer: Layer, prefix: string): (readonly [Routed, string])[] {
    const router = layer.handle as Routed;
    // Express hides an application that is mounted in another one behind a function.
    const isApplication = router.name === 'mounted_app';
    if (!isApplication && stackOf(router).length === 0) return [];
    const paths = isApplication ? undefined : mountPaths(layer);
    if (paths) return paths.map(path => [router, joined(prefix, path)]);
    const named = Object.entries(this.mounts)
      .filter(([, one]) => isApplication || one === router)
      .flatMap(([path, one]) => templatesOf(path).map(template => [one, template] as const))
      .filter(([, template]) => {
        const rest = restOf(sampleOf(template), prefix);
        return rest !== undefined && matchedPart(layer, rest) === withoutSlash(rest);
      });
    if (named.length > 0 || isApplication || layer.regexp) return named;
    throw new TypeError(
      'openapi: Express 5.0 to 5.2 do not keep the path that a router is mounted at. Name it in `mounts`, for ' +
        "example { '/orders': ordersRouter }, or install Express 5.3.",
    );
  }
}

/** Returns the paths that a router is mounted at; undefined if Express does not keep them. */
function mountPaths({ rawPath, slash, regexp, keys = [] }: Layer): readonly string[] | undefined {
  if (slash === true || regexp?.fast_slash === true) return [''];
  if (rawPath !== undefined) return textsIn(rawPath).flatMap(templatesOf);
  return regexp && mountPaths4(regexp, keys)?.flatMap(templatesOf4);
}

/** Asks Express which part of a path a layer takes; undefined if requests for the path do not meet it. */
function matchedPart({ slash, regexp, matchers = [] }: Layer, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  if (slash === true || regexp?.fast_slash === true) return '';
  const found = regexp
    ? new RegExp(regexp).exec(path)?.[0]
    : matchers.map(match => match(path)).find(match => match !== false)?.path;
  return found === undefined ? undefined : withoutSlash(found);
}

/** Fills in the parameters of a path: a digit is a value of most patterns. */
const sampleOf = (path: string): string => path.replace(/\{[^}]*\}/g, '1');

const withoutSlash = (path: string): string => path.replace(/\/$/, '');

/** Returns the rest of a path below a prefix; undefined for any other path. */
function restOf(path: string, prefix: string): string | undefined {
  const start = withoutSlash(sampleOf(prefix));
  return `${path}/`.startsWith(`${start}/`) ? path.slice(start.length) || '/' : undefined;
}

/** Returns the layers of an application (Express 4 or 5) or router; none for any other function. */
function stackOf(routed: Routed): readonly Layer[] {
  const own = routed as { readonly stack?: readonly Layer[]; readonly _router?: { readonly stack: readonly Layer[] } };
  // The getter `router` of an Express 4 application throws.
  const router = own._router ?? (isExpress4(routed) ? undefined : (routed as { readonly router?: typeof own }).router);
  return (own.stack ?? router?.stack ?? []).map(layer => ({ ...layer, handle: mountedIn(layer.handle) }));
}

/** Where a function that replaces another one keeps it: shimmer, which OpenTelemetry wraps with, and Sentry. */
const ORIGINALS = ['__original', '__sentry_original__'];

/**
 * Returns what was mounted. A tracer replaces it in its layer by a function of its own, which has neither its name nor
 * its description.
 */
function mountedIn(handle: unknown): unknown {
  const kept = handle as Readonly<Record<string, unknown>>;
  const original = ORIGINALS.map(name => kept[name]).find(one => typeof one === 'function');
  // OpenTelemetry marks a handler of errors, which it does not replace, as its own original.
  return original === undefined || original === handle ? handle : mountedIn(original);
}

/** Methods that OpenAPI has a field for. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
/** Methods listed for `all()`, which is for every method. */
const METHODS_OF_ALL = ['get', 'put', 'post', 'delete', 'patch'];

/** Returns the methods of a route that OpenAPI can list: those that it names, or else the usual ones. */
function methodsOf({ methods }: ExpressRoute): readonly string[] {
  // `app.all()` names every method.
  const isOfApplication = Object.values(methods).filter(Boolean).length > METHODS.length;
  const named = isOfApplication ? [] : METHODS.filter(method => methods[method]);
  return named.length === 0 && (isOfApplication || methods['_all'] === true) ? METHODS_OF_ALL : named;
}

const textsIn = (paths: unknown): string[] =>
  [paths].flat<unknown[], typeof Infinity>(Infinity).filter(path => typeof path === 'string');
