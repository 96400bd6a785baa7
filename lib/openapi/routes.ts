import { joined, mountPath4, rootTemplate, templatesOf, templatesOf4, type PathTemplate } from './path-templates';

/** A method and path of an application, with the handlers of its requests in their order. */
export interface Route {
  readonly method: string;
  readonly template: PathTemplate;
  readonly handlers: readonly unknown[];
}

/** A router, or an application, which has one. */
export type Routed = object;

/** Routers by the path that they are mounted at. */
export type Mounts = Readonly<Record<string, Routed>>;

/** What Express keeps of a call of `use`, `get` or `route`. */
interface Layer {
  readonly handle: unknown;
  /** Express 5.3 and later: the path as it was given. */
  readonly rawPath?: unknown;
  /** Express 5: true for a mount at the root. */
  readonly slash?: boolean;
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

/** A middleware that was mounted with `use`. */
interface Mounted {
  readonly paths: readonly PathTemplate[];
  readonly handle: unknown;
}

/** Methods that OpenAPI has a field for. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
/** Methods listed for `app.all()`, which answers every method. */
const METHODS_OF_ALL = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Finds the routes of an application or router, those of nested routers included. A path that is a regular expression
 * has no template, so its route is left out.
 * @param mounts routers that cannot be found, or whose path is unknown: applications that are mounted in others, and
 * under Express 5.0 to 5.2 all routers that are mounted at a path.
 * @throws TypeError for a nested router whose path is unknown.
 */
export function routesOf(app: Routed, mounts: Mounts = {}): Route[] {
  const found = [...walk(stackOf(app), [rootTemplate], [], mounts)];
  const others = Object.entries(mounts).filter(([, router]) => !isNested(stackOf(app), router));
  for (const [path, router] of others) found.push(...walk(stackOf(router), templatesOf(path), [], mounts));
  return found;
}

function* walk(
  stack: readonly Layer[],
  prefixes: readonly PathTemplate[],
  outer: readonly Mounted[],
  mounts: Mounts,
): Generator<Route> {
  const mounted = [...outer];
  for (const layer of stack) {
    const { handle, route } = layer;
    if (route) yield* routesIn(route, layer, prefixes, mounted);
    else {
      const paths = under(prefixes, mountPaths(layer, mounts));
      const nested = stackOf(handle as Routed);
      if (nested.length > 0) yield* walk(nested, paths, mounted, mounts);
      else mounted.push({ paths, handle });
    }
  }
}

function* routesIn(
  { path, methods, stack }: ExpressRoute,
  { regexp }: Layer,
  prefixes: readonly PathTemplate[],
  mounted: readonly Mounted[],
): Generator<Route> {
  const own = [path]
    .flat()
    .filter(one => typeof one === 'string')
    .flatMap(regexp ? templatesOf4 : templatesOf);
  const named = Object.keys(methods).filter(method => methods[method]);
  const answersAll = methods['_all'] === true || named.length > METHODS.length;
  for (const template of under(prefixes, own)) {
    const before = mounted.filter(({ paths }) => paths.some(prefix => isBelow(template, prefix)));
    for (const method of answersAll ? METHODS_OF_ALL : METHODS.filter(one => named.includes(one))) {
      const handlers = stack.filter(layer => layer.method === undefined || layer.method === method);
      yield { method, template, handlers: [...before, ...handlers].map(({ handle }) => handle) };
    }
  }
}

function mountPaths({ handle, rawPath, slash, regexp, keys = [] }: Layer, mounts: Mounts): PathTemplate[] {
  if (slash === true || regexp?.fast_slash === true) return [rootTemplate];
  if (rawPath !== undefined)
    return [rawPath]
      .flat()
      .filter(path => typeof path === 'string')
      .flatMap(templatesOf);
  if (regexp) return templatesOf4(mountPath4(regexp, keys));
  const [path] = Object.entries(mounts).find(([, router]) => router === handle) ?? [];
  if (path !== undefined) return templatesOf(path);
  if (stackOf(handle as Routed).length === 0) return [];
  throw new TypeError(
    'openapi: Express 5.0 to 5.2 do not keep the path that a router is mounted at. Name it in `mounts`, for example ' +
      "{ '/orders': ordersRouter }, or install Express 5.3.",
  );
}

function under(prefixes: readonly PathTemplate[], paths: readonly PathTemplate[]): PathTemplate[] {
  return prefixes.flatMap(prefix => paths.map(path => joined(prefix, path)));
}

function isBelow({ path }: PathTemplate, { path: prefix }: PathTemplate): boolean {
  const mount = prefix.replace(/\/$/, '');
  return path === mount || path.startsWith(`${mount}/`);
}

/** Tells whether the walk meets a router. */
function isNested(stack: readonly Layer[], router: Routed): boolean {
  return stack.some(({ handle }) => handle === router || isNested(stackOf(handle as Routed), router));
}

/** Returns the layers of an application (Express 4 or 5) or router; none for any other function. */
function stackOf(routed: Routed): readonly Layer[] {
  const { _router, stack } = routed as { readonly _router?: { stack: Layer[] }; readonly stack?: readonly Layer[] };
  // The getter `router` of an Express 4 application throws.
  const router =
    _router ??
    (stack === undefined && 'lazyrouter' in routed ? undefined : (routed as { router?: { stack: Layer[] } }).router);
  return stack ?? router?.stack ?? [];
}
