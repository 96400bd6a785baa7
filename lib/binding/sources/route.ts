import type { Pair } from '../../body/pairs';
import { NamedValues, readNamed } from './named-values';
import type { ValueSource } from './value-source';

/** SPEC, "Route parameters": names in any case; a wildcard of several segments is a collection. */
export const route: ValueSource = {
  source: 'route',
  missing: 'This route parameter is required.',
  open(context) {
    const params = Object.entries(context.req.params as Record<string, string | string[] | undefined>);
    const values = new NamedValues(params.flatMap(([name, value]) => [value].flat().filter(one => one !== undefined).map((one): Pair => [name, one])));
    return slot => readNamed(values, slot, context.at('route', slot.name));
  },
};
