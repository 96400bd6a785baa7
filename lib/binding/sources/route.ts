import type { Request } from 'express';
import type { Pair } from '../../body/pairs';
import { readByName } from './names';
import type { ValueSource } from './value-source';

/** SPEC, "Route parameters". */
export const route: ValueSource = {
  source: 'route',
  missing: 'This route parameter is required.',
  read: (input, slots, found) => { readByName('route', routeOf(input.req), input, slots, found); },
};

/** A wildcard of several segments has several values. */
export function routeOf(req: Request): Pair[] {
  const pairs: Pair[] = [];
  for (const [name, value] of Object.entries(req.params as Record<string, string | string[] | undefined>)) {
    for (const one of [value].flat()) if (one !== undefined) pairs.push([name, one]);
  }
  return pairs;
}
