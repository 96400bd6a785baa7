import { stackOf, type ExpressRoute, type Layer, type Routed } from './express-layers';
import { mountPaths4, templatesOf, templatesOf4 } from './express-paths';
import { isMountedAt } from './layer-matching';
import { below, distinct, rootTemplate, shapeOf, type PathTemplate } from './path-templates';

/** Routers by the path that they are mounted at. */
export type Mounts = Readonly<Record<string, Routed>>;

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
