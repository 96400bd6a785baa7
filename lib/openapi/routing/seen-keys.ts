import type { PathParameter, PathTemplate } from './path-templates';

/**
 * The names under which a handler sees the parameters of a route's path, in their order; undefined for those it does
 * not.
 */
export type SeenKeys = readonly PathParameter['key'][];

/** A handler, and how it sees the parameters of the route's path. */
export interface Handler {
  readonly handle: unknown;
  readonly keys: SeenKeys;
}

/**
 * Returns the names under which a middleware sees the parameters of a route behind it: those in the path that it is
 * mounted at itself, and no others.
 * @param paths the paths of the middleware, of which the last that fits counts: the one with all parts that may be
 * missing. If none is known, it has the names of the route.
 */
export function keysSeenFrom(paths: readonly PathTemplate[], route: PathTemplate): SeenKeys {
  const own = [...paths].reverse().find(({ path }) => fits(path, route.path));
  if (!own) return route.parameters.map(({ key }) => key);
  const places = placesIn(own);
  return placesIn(route).map(place => own.parameters[places.indexOf(place)]?.key);
}

/** Returns true if requests for a path can begin with another one. */
function fits(beginning: string, path: string): boolean {
  const segments = path.toLowerCase().split('/');
  return beginning
    .toLowerCase()
    .split('/')
    .every((one, at) => {
      const other = segments[at];
      return other !== undefined && (one === other || one.includes('{') || other.includes('{'));
    });
}

/** Returns where the parameters of a path are: in which segment, and there at which place. */
const placesIn = ({ path }: PathTemplate): string[] =>
  path.split('/').flatMap((segment, at) => (segment.match(/\{/g) ?? []).map((_brace, place) => `${at}.${place}`));
