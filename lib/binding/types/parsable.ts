import type { Location } from '../reading/location';
import type { Codec } from './codec';
import { accepted } from './parse-result';
import type { Parsable } from './property-type';
import { asScalar } from './scalar';

/**
 * A class with `static tryParse(text)`. As JSON it is read from a string.
 * @param asObject what reads JSON that is no string: its declared properties, if it has some.
 */
export function parsableCodec(type: Parsable<unknown>, asObject?: Codec<unknown>): Codec<unknown> {
  const name = (type as { name?: string }).name ?? 'value';
  const parse = (text: string, location: Location): unknown =>
    accepted(type.tryParse(text), text, name, location, `${name}.tryParse`);
  return {
    ...asObject,
    name,
    shape: 'scalar',
    fromText(values, location) {
      const [text = ''] = values;
      return values.length === 1 ? parse(text, location) : location.failCount(values.length, name);
    },
    fromJson(value, location) {
      if (typeof value === 'string') return parse(value, location);
      return asObject ? asObject.fromJson(value, location) : location.failValue(value, name);
    },
    toJson: asObject?.toJson ?? (value => asText(value, type, name)),
  };
}

/** Its text, unless it says how it is written (`toJSON`) or has no text of its own. Other objects are not shown. */
function asText(value: unknown, type: Parsable<unknown>, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && typeof type === 'function' && value instanceof type;
  if (!isOwn) return asScalar(value, name);
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- Whether it has a text of its own is the question.
  const text = String(value);
  return 'toJSON' in value || text === '[object Object]' ? value : text;
}
