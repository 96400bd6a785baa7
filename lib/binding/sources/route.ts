import type { Request } from 'express';
import type { Pair } from '../../body/content/urlencoded';
import { isExpress4 } from '../../http/express-4';
import { warnOnce } from '../../warnings/warn-once';
import { convertedText } from '../reading/converted-text';
import type { Location } from '../reading/location';
import type { Expected } from '../types/read-json';
import { readFlat } from '../types/read-names';
import { readSegments } from '../types/read-text';
import { NameTree } from '../reading/name-tree';
import { exactly, readByName } from './read-by-name';
import { parameterNames, type RoutePath } from './parameter-names';
import type { ValueSource } from './value-source';

/** Route parameters; names are case-insensitive. */
export const route: ValueSource = {
  name: 'route',
  missing: 'This route parameter is required.',
  read(input, sourceProperties, found) {
    const { texts, wildcards } = parametersOf(input.req);
    readByName('route', texts, input, sourceProperties, found);
    if (wildcards.size === 0) return;
    for (const sourceProperty of sourceProperties) {
      const segments = wildcards.get(sourceProperty.name.toLowerCase());
      if (segments)
        found.put(
          sourceProperty.index,
          readSegments(sourceProperty, segments, input.locationOf('route', sourceProperty.name)),
        );
    }
  },
};

/** Reads one parameter; undefined if the route has none of that name. */
export function readRouteParameter(expected: Expected, name: string, req: Request, location: Location): unknown {
  const { texts, wildcards } = parametersOf(req);
  const segments = wildcards.get(name.toLowerCase());
  if (segments) return readSegments(expected, segments, location);
  const tree = exactly(name, texts) ?? NameTree.of(texts).at(name);
  return tree && readFlat(expected, tree, location);
}

/**
 * Warns of a required parameter that the matched route does not have: no client can send it. (A part of the path may be
 * optional, so that the parameter is missing from this request only.)
 */
export function warnIfUnknown(name: string, req: Request): void {
  const { route: matched } = req as { readonly route?: { readonly path: unknown } };
  // Under app.use(), Express does not tell the path.
  if (!matched) return;
  const paths = [matched.path].flat(Infinity) as RoutePath[];
  const known = [...Object.keys(req.params), ...paths.flatMap(path => parameterNames(path, isExpress4(req.app)))];
  if (known.some(one => one.toLowerCase() === name.toLowerCase())) return;
  warnOnce(
    'BINDONCE_ROUTE_PARAMETER',
    `bindRequest: a dto requires the route parameter ${JSON.stringify(name)}, and where the middleware is mounted ` +
      `(${paths.join(', ')}), there is no parameter of this name, so each request gets 400. ` +
      'Correct the name or the path; a router has parameters of the path above it only with mergeParams: true.',
    `${name} ${paths.join(' ')}`,
  );
}

interface RouteParameters {
  readonly texts: readonly Pair[];
  /** The segments of each wildcard, by its name in lower case. */
  readonly wildcards: ReadonlyMap<string, readonly string[]>;
}

const NO_WILDCARDS: RouteParameters['wildcards'] = new Map();

/** Reads `req.params`. A wildcard is an array in Express 5; in Express 4 it is text without a name. */
function parametersOf(req: Request): RouteParameters {
  const params = req.params as Readonly<Record<string, unknown>>;
  const texts: Pair[] = [];
  let wildcards: Map<string, readonly string[]> | undefined;
  for (const name of Object.keys(params)) {
    const value = params[name];
    if (Array.isArray(value)) {
      (wildcards ??= new Map()).set(name.toLowerCase(), value.map(String));
      continue;
    }
    const text = convertedText(value);
    if (text === undefined) continue;
    if (/^\d+$/.test(name) && hasWildcard(req)) (wildcards ??= new Map()).set(name, text === '' ? [] : text.split('/'));
    else texts.push([name, text]);
  }
  return { texts, wildcards: wildcards ?? NO_WILDCARDS };
}

/** Returns true if an Express 4 route has a wildcard; a group of a regular expression has no name, either. */
function hasWildcard({ route: matched }: { readonly route?: { readonly path?: unknown } }): boolean {
  return [matched?.path].flat().some(path => typeof path === 'string' && path.includes('*'));
}
