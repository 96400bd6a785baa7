import type { Request } from 'express';
import type { Pair } from '../../body/pairs';
import type { Place } from '../reading/place';
import { readFlat, readSegments, type Expected } from '../reading/reading';
import { Branch } from './branch';
import { readByName } from './names';
import type { ValueSource } from './value-source';

/** SPEC, "Route parameters". */
export const route: ValueSource = {
  source: 'route',
  missing: 'This route parameter is required.',
  read(input, slots, found) {
    const { texts, wildcards } = parametersOf(input.req);
    readByName('route', texts, input, slots, found);
    if (wildcards.size === 0) return;
    for (const slot of slots) {
      const segments = wildcards.get(slot.name.toLowerCase());
      if (segments) found.put(slot.index, readSegments(slot, segments, input.placeOf('route', slot.name)));
    }
  },
};

/** Reads one parameter; undefined when the route has none of that name. */
export function readRouteParameter(expected: Expected, name: string, req: Request, place: Place): unknown {
  const { texts, wildcards } = parametersOf(req);
  const segments = wildcards.get(name.toLowerCase());
  if (segments) return readSegments(expected, segments, place);
  const branch = Branch.of(texts).at(name);
  return branch && readFlat(expected, branch, place);
}

interface RouteParameters {
  readonly texts: readonly Pair[];
  /** The segments of each wildcard, by its name in lower case. */
  readonly wildcards: ReadonlyMap<string, readonly string[]>;
}

/** A wildcard is an array in Express 5; in Express 4 it is a text without a name of its own. */
function parametersOf(req: Request): RouteParameters {
  const texts: Pair[] = [];
  const wildcards = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(req.params as Record<string, string | string[] | undefined>)) {
    if (Array.isArray(value)) wildcards.set(name.toLowerCase(), value);
    else if (value !== undefined && /^\d+$/.test(name) && hasWildcard(req))
      wildcards.set(name, value === '' ? [] : value.split('/'));
    else if (value !== undefined) texts.push([name, value]);
  }
  return { texts, wildcards };
}

/** A group of a regular expression has no name either. */
function hasWildcard({ route: matched }: { readonly route?: { readonly path?: unknown } }): boolean {
  return [matched?.path].flat().some(path => typeof path === 'string' && path.includes('*'));
}
