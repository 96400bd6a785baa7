import { lastHandler } from '../../binding/responses/passing-route';
import { isDescribed } from '../../description/descriptions';
import { describe } from '../../options/check';
import {
  METHODS,
  isApplication,
  isCaseSensitive,
  isStrict,
  methodsOf,
  namesMethod,
  seesOuterParameters,
  stackOf,
  type ExpressRoute,
  type Layer,
  type Routed,
} from './express-layers';
import { templatesOf } from './express-paths';
import { matches, takesMore } from './layer-matching';
import { keepsItsPath, mountPaths, routePaths, type Mounts } from './layer-paths';
import { passesOn } from './middlewares';
import { below, hidden, joined, rootTemplate, type PathTemplate } from './path-templates';
import { keysSeenFrom, type Handler } from './seen-keys';

/** A method and path of an application, with the handlers of its requests in their order. */
export interface Route {
  readonly method: string;
  readonly template: PathTemplate;
  readonly handlers: readonly Handler[];
  /** True if `/A` and `/a` are two paths. */
  readonly isCaseSensitive: boolean;
  /** True if it is for all methods, without naming this one, and bindonce made its last handler: it answers none. */
  readonly isInFrontOfAll: boolean;
  /** True if its requests get to later routes, too, whose handlers then include its own. */
  readonly passesOn: boolean;
}

/** Returns the middlewares of bindonce that requests of a method for a path meet first. */
type InFront = (template: PathTemplate, method: string) => readonly Handler[];

/** Position of a walk. */
interface Position {
  readonly prefix: PathTemplate;
  readonly inFront: readonly InFront[];
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
  checkRouters('openapi', app, mounts);
  const met = new Set<unknown>();
  const start: Position = { prefix: rootTemplate, inFront: [], open: new Set(), met };
  const found = [...walk(app, start, mounts)];
  // An application says nowhere where it is mounted, unless it was met at a path that `mounts` names.
  const others = Object.entries(mounts).filter(([, router]) => !met.has(router));
  for (const [path, router] of others)
    for (const prefix of templatesOf(path)) found.push(...walk(router, { ...start, prefix }, mounts));
  return found;
}

/**
 * @param owner the function that takes them, for the message.
 * @throws TypeError for a value that is not an application or router.
 */
export function checkRouters(owner: 'openapi' | 'apiDocs', app: unknown, mounts: Mounts = {}): void {
  const given: readonly (readonly [string, unknown])[] = [
    ['the first argument', app],
    ...Object.entries(mounts).map(([path, router]) => [`${path} in the option mounts`, router] as const),
  ];
  for (const [what, router] of given)
    if (typeof router !== 'function')
      throw new TypeError(
        `${owner}: ${what} must be an Express application or router, not ${describe(router)}. ` +
          'Pass what express() or express.Router() has returned.',
      );
}

/** Returns what the router puts in front of the routes behind it. */
function* walk(router: Routed, position: Position, mounts: Mounts): Generator<Route, InFront[]> {
  const { prefix, open, met } = position;
  if (open.has(router)) return [];
  met.add(router);
  const own: InFront[] = [];
  for (const layer of stackOf(router)) {
    const inFront = [...position.inFront, ...own];
    const behind = (handlersFor: InFront): void => {
      own.push((template, method) =>
        matches(layer, below(template, prefix).path) ? handlersFor(template, method) : [],
      );
    };
    const { handle, route } = layer;
    if (route) {
      yield* routesIn(layer, route, { ...position, inFront }, router);
      const passing = handlersThatPassOn(route);
      if (passing.size > 0) {
        const paths = routePaths(route, layer).map(path => joined(prefix, path));
        behind((template, method) => seen(passing.get(method) ?? [], paths, template));
      }
      continue;
    }
    const application = isApplication(handle) ? applicationAt(layer, prefix, mounts) : undefined;
    const nested = application ?? (handle as Routed);
    if (stackOf(nested).length === 0) {
      if (isDescribed(handle)) {
        const paths = mountPaths(layer, mounts, prefix).map(path => joined(prefix, path));
        behind(template => seen([handle], paths, template));
      }
      continue;
    }
    for (const path of mountPaths(layer, mounts, prefix)) {
      const here = joined(prefix, path);
      const inside = { prefix: seesOuterParameters(nested) ? here : hidden(here), inFront };
      const routes = walk(nested, { ...inside, open: new Set([...open, router]), met }, mounts);
      const left = yield* filtered(routes, one => !takesMore(layer, path, below(one.template, prefix).path));
      for (const handlersFor of left) behind(handlersFor);
    }
  }
  return own;
}

/** Leaves out routes, and returns what the walk does. */
function* filtered<R>(routes: Generator<Route, R>, isKept: (route: Route) => boolean): Generator<Route, R> {
  for (;;) {
    const { done, value } = routes.next();
    if (done) return value;
    if (isKept(value)) yield value;
  }
}

/** Finds the application that `mounts` names at the path of a layer. */
function applicationAt(layer: Layer, prefix: PathTemplate, mounts: Mounts): Routed | undefined {
  if (!keepsItsPath(layer)) return undefined;
  const paths = mountPaths(layer, mounts, prefix).map(path => joined(prefix, path).path);
  return Object.entries(mounts).find(([path]) => templatesOf(path).some(one => paths.includes(one.path)))?.[1];
}

function* routesIn(
  layer: Layer,
  route: ExpressRoute,
  { prefix, inFront }: Position,
  router: Routed,
): Generator<Route, void> {
  for (const path of routePaths(route, layer)) {
    // Express matches what follows the mount point, and that is `/` at least.
    if (isStrict(router) && path.path === '') continue;
    const whole = joined(prefix, path);
    // A route `/` of a strict router answers below its mount point with and without a slash.
    const keepsSlash = isStrict(router) && path.path.length > 1;
    const template = keepsSlash ? whole : { ...whole, path: whole.path.replace(/\/$/, '') };
    for (const method of methodsOf(route)) {
      const handlers = handlersOf(route, method);
      yield {
        method,
        template,
        handlers: [
          ...inFront.flatMap(handlersFor => handlersFor(template, method)),
          ...seen(handlers, [template], template),
        ],
        isCaseSensitive: isCaseSensitive(router),
        isInFrontOfAll: !namesMethod(route, method) && isDescribed(lastHandler(handlers)),
        passesOn: passesOn(handlers),
      };
    }
  }
}

/** @param paths those that the handlers are mounted at. */
function seen(handles: readonly unknown[], paths: readonly PathTemplate[], template: PathTemplate): Handler[] {
  const keys = keysSeenFrom(paths, template);
  return handles.map(handle => ({ handle, keys }));
}

/** Returns the middlewares of bindonce that requests have met when they get behind a route, by method. */
function handlersThatPassOn(route: ExpressRoute): ReadonlyMap<string, readonly unknown[]> {
  const all = METHODS.map(method => [method, handlersOf(route, method)] as const);
  const passing = all.filter(([, handlers]) => handlers.some(isDescribed) && passesOn(handlers));
  return new Map(passing.map(([method, handlers]) => [method, handlers.filter(isDescribed)]));
}

const handlersOf = ({ stack }: ExpressRoute, method: string): unknown[] =>
  stack.filter(one => one.method === undefined || one.method === method).map(({ handle }) => handle);
