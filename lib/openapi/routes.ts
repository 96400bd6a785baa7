import {
  isApplication,
  isCaseSensitive,
  keepsItsPath,
  matches,
  methodsOf,
  mountPaths,
  routePaths,
  seesOuterParameters,
  stackOf,
  type Layer,
  type Mounts,
  type Routed,
} from './express-layers';
import { hidden, joined, rootTemplate, templatesOf, type PathTemplate } from './path-templates';

/** A method and path of an application, with the handlers of its requests in their order. */
export interface Route {
  readonly method: string;
  readonly template: PathTemplate;
  readonly handlers: readonly unknown[];
  /** True if `/A` and `/a` are two paths. */
  readonly isCaseSensitive: boolean;
}

/** A middleware that was mounted with `use`. */
interface Mounted {
  /** Returns true if requests for a path meet it. */
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

function* walk(router: Routed, position: Position, mounts: Mounts): Generator<Route> {
  const { prefix, open, met } = position;
  if (open.has(router)) return;
  met.add(router);
  const mounted = [...position.mounted];
  for (const layer of stackOf(router)) {
    const { handle } = layer;
    if (layer.route) {
      yield* routesIn(layer, { ...position, mounted }, isCaseSensitive(router));
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
      const inside = { prefix: seesOuterParameters(nested) ? here : hidden(here), mounted };
      yield* walk(nested, { ...inside, open: new Set([...open, router]), met }, mounts);
    }
  }
}

/** Finds the application that `mounts` names at the path of a layer. */
function applicationAt(layer: Layer, prefix: PathTemplate, mounts: Mounts): Routed | undefined {
  if (!keepsItsPath(layer)) return undefined;
  const paths = mountPaths(layer, mounts).map(path => joined(prefix, path).path);
  return Object.entries(mounts).find(([path]) => templatesOf(path).some(one => paths.includes(one.path)))?.[1];
}

/** Returns the rest of a path below a router. */
const below = ({ path }: PathTemplate, prefix: PathTemplate): string =>
  path.slice(prefix.path.replace(/\/$/, '').length) || '/';

function* routesIn(layer: Layer, { prefix, mounted }: Position, caseSensitive: boolean): Generator<Route> {
  const { route } = layer;
  if (!route) return;
  for (const template of routePaths(route, layer).map(one => joined(prefix, one))) {
    const before = mounted.filter(({ meets }) => meets(template));
    for (const method of methodsOf(route)) {
      const handlers = route.stack.filter(one => one.method === undefined || one.method === method);
      yield {
        method,
        template,
        handlers: [...before, ...handlers].map(({ handle }) => handle),
        isCaseSensitive: caseSensitive,
      };
    }
  }
}
