import {
  hidden,
  joined,
  mountPath4,
  rootTemplate,
  templatesOf,
  templatesOf4,
  type PathTemplate,
} from './path-templates';

/** A method and path of an application, with the handlers of its requests in their order. */
export interface Route {
  readonly method: string;
  readonly template: PathTemplate;
  readonly handlers: readonly unknown[];
  /** True if `/A` and `/a` are two paths. */
  readonly isCaseSensitive: boolean;
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
  /** Express 5: match the beginning of a path. */
  readonly matchers?: readonly ((path: string) => unknown)[];
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
  /** Tells whether requests for a path meet it. */
  readonly meets: (template: PathTemplate) => boolean;
  readonly handle: unknown;
}

/** Where a walk is. */
interface Position {
  readonly prefix: PathTemplate;
  /** The middlewares in front. */
  readonly mounted: readonly Mounted[];
  /** The routers that are being walked: one can be mounted in itself. */
  readonly open: ReadonlySet<unknown>;
  /** Gets all routers that were walked. */
  readonly met: Set<unknown>;
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
  for (const [what, router] of [['the first argument', app] as const, ...Object.entries(mounts)])
    if (typeof (router as unknown) !== 'function')
      throw new TypeError(
        `openapi: ${what} must be an Express application or router${what.startsWith('/') ? ' (option `mounts`)' : ''}, ` +
          `not ${typeof router}.`,
      );
  const met = new Set<unknown>();
  const start: Position = { prefix: rootTemplate, mounted: [], open: new Set(), met };
  const found = [...walk(app, start, mounts)];
  // An application says nowhere where it is mounted, unless it was met at a path that `mounts` names.
  const others = Object.entries(mounts).filter(([, router]) => !met.has(router));
  for (const [path, router] of others)
    for (const prefix of templatesOf(path)) found.push(...walk(router, { ...start, prefix }, mounts));
  return found;
}

function* walk(router: Routed, { prefix, mounted: before, open, met }: Position, mounts: Mounts): Generator<Route> {
  if (open.has(router)) return;
  met.add(router);
  const mounted = [...before];
  for (const layer of stackOf(router)) {
    const { handle, route } = layer;
    if (route) {
      yield* routesIn(route, layer, prefix, mounted, isCaseSensitive(router));
      continue;
    }
    const application = isApplication(handle) ? applicationAt(layer, prefix, mounts) : undefined;
    const nested = application ?? (handle as Routed);
    if (stackOf(nested).length === 0) {
      mounted.push({ handle, meets: template => matches(layer, below(template, prefix)) });
      continue;
    }
    for (const path of mountPaths(layer, mounts)) {
      const here = joined(prefix, path);
      const seesOuter = (nested as { readonly mergeParams?: boolean }).mergeParams === true;
      const position = { prefix: seesOuter ? here : hidden(here), mounted, open: new Set([...open, router]), met };
      yield* walk(nested, position, mounts);
    }
  }
}

/** Tells whether a layer is an application that was mounted in another one: Express hides it behind a function. */
const isApplication = (handle: unknown): boolean => (handle as { readonly name?: string }).name === 'mounted_app';

/** Finds the application that `mounts` names at the path of a layer. */
function applicationAt(layer: Layer, prefix: PathTemplate, mounts: Mounts): Routed | undefined {
  if (layer.rawPath === undefined && !layer.regexp && layer.slash !== true) return undefined;
  const paths = mountPaths(layer, mounts).map(path => joined(prefix, path).path);
  return Object.entries(mounts).find(([path]) => templatesOf(path).some(one => paths.includes(one.path)))?.[1];
}

/** Returns the rest of a path below a router. */
const below = ({ path }: PathTemplate, prefix: PathTemplate): string =>
  path.slice(prefix.path.replace(/\/$/, '').length) || '/';

/** Values of path parameters for which a middleware's own path is tried: it may take digits or a GUID only. */
const SAMPLES = ['any-7f3a', '7305196842', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'];

/** Tells whether requests for a path meet a layer, for some value of its parameters. */
function matches({ slash, regexp, matchers = [] }: Layer, path: string): boolean {
  if (slash === true || regexp?.fast_slash === true) return true;
  return SAMPLES.some(sample => {
    const sent = path.replace(/\{[^}]*\}/g, sample);
    return regexp ? new RegExp(regexp).test(sent) : matchers.some(match => Boolean(match(sent)));
  });
}

function isCaseSensitive(router: Routed): boolean {
  const { caseSensitive, enabled } = router as {
    readonly caseSensitive?: boolean;
    readonly enabled?: (setting: string) => boolean;
  };
  return caseSensitive ?? enabled?.call(router, 'case sensitive routing') ?? false;
}

function* routesIn(
  { path, methods, stack }: ExpressRoute,
  { regexp }: Layer,
  prefix: PathTemplate,
  mounted: readonly Mounted[],
  caseSensitive: boolean,
): Generator<Route> {
  const own = [path]
    .flat(Infinity)
    .filter(one => typeof one === 'string')
    .flatMap(regexp ? templatesOf4 : templatesOf);
  const named = Object.keys(methods).filter(method => methods[method]);
  const answersAll = methods['_all'] === true || named.length > METHODS.length;
  for (const template of own.map(one => joined(prefix, one))) {
    const before = mounted.filter(({ meets }) => meets(template));
    for (const method of answersAll ? METHODS_OF_ALL : METHODS.filter(one => named.includes(one))) {
      const handlers = stack.filter(layer => layer.method === undefined || layer.method === method);
      yield {
        method,
        template,
        handlers: [...before, ...handlers].map(({ handle }) => handle),
        isCaseSensitive: caseSensitive,
      };
    }
  }
}

function mountPaths({ handle, rawPath, slash, regexp, keys = [] }: Layer, mounts: Mounts): PathTemplate[] {
  if (slash === true || regexp?.fast_slash === true) return [rootTemplate];
  if (rawPath !== undefined)
    return [rawPath]
      .flat(Infinity)
      .filter(path => typeof path === 'string')
      .flatMap(templatesOf);
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

/** Returns the layers of an application (Express 4 or 5) or router; none for any other function. */
function stackOf(routed: Routed): readonly Layer[] {
  const { _router, stack } = routed as { readonly _router?: { stack: Layer[] }; readonly stack?: readonly Layer[] };
  // The getter `router` of an Express 4 application throws.
  const router =
    _router ??
    (stack === undefined && 'lazyrouter' in routed ? undefined : (routed as { router?: { stack: Layer[] } }).router);
  return stack ?? router?.stack ?? [];
}
