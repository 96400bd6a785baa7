import type { Location } from '../reading/location';
import type { Codec } from './codec';
import { accepted } from './parse-result';
import type { Parsable } from './property-type';
import { asScalar } from './scalar';

/**
 * Makes the codec of a class with `static tryParse(text)`. In JSON its values are strings.
 * @param asObject reads JSON objects by the declared properties of the class, if it has any.
 */
export function parsableCodec(type: Parsable<unknown>, asObject?: Codec<unknown>): Codec<unknown> {
  const name = (type as { name?: string }).name ?? 'value';
  const parse = (text: string, location: Location): unknown =>
    accepted(type.tryParse(text), text, name, location, `${name}.tryParse`);
  return {
    ...asObject,
    // Its text is read where its properties are not.
    blockedIn: undefined,
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
    schema(schemas) {
      const text = { type: 'string', title: name };
      if (!asObject) return text;
      return schemas.direction === 'response' ? schemas.of(asObject) : { anyOf: [text, schemas.of(asObject)] };
    },
    toJson: asObject?.toJson ?? (value => asText(value, type, name)),
  };
}

/**
 * Returns the value's text, or the value itself if it has a `toJSON` or no text of its own. Instances of other classes
 * are refused.
 */
function asText(value: unknown, type: Parsable<unknown>, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && typeof type === 'function' && value instanceof type;
  if (!isOwn) return asScalar(value, name);
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- whether it has a text of its own?
  const text = String(value);
  return 'toJSON' in value || text === '[object Object]' ? value : text;
}
