import type { Request } from 'express';
import type { Pair } from '../../body/pairs';
import { byName } from './names';
import type { ValueSource } from './value-source';

/** SPEC, "Route parameters". */
export const route: ValueSource = {
  source: 'route',
  missing: 'This route parameter is required.',
  open: (input, slots) => byName('route', routeOf(input.req), input, slots),
};

/** A wildcard of several segments has several values. */
export function routeOf(req: Request): Pair[] {
  const params = Object.entries(req.params as Record<string, string | string[] | undefined>);
  return params.flatMap(([name, value]) => [value].flat().filter(one => one !== undefined).map((one): Pair => [name, one]));
}
