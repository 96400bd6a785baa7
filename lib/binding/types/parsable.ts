import { isJsonText } from '../reading/json-text';
import type { Location } from '../reading/location';
import { classNameOf } from './class-name';
import type { Codec } from './codec';
import { accepted } from './parse-result';
import type { Parsable, ParseResult } from './property-type';
import { asScalar } from './scalar';

/**
 * Makes the codec of a class with `static tryParse(text)`. In JSON its values are strings.
 * @param asObject reads JSON objects, also in text, by the declared properties of the class, if it has any.
 */
export function parsableCodec(type: Parsable<unknown>, asObject?: Codec<unknown>): Codec<unknown> {
  const className = classNameOf(type);
  const name = className || 'value';
  const described = `text that ${className || 'this type'} accepts; send a string`;
  const valueOf = (result: ParseResult<unknown>, text: string, location: Location): unknown =>
    accepted(result, text, name, location, `${name}.tryParse`);
  return {
    ...asObject,
    name,
    shape: 'scalar',
    fromText(values, location) {
      const [text = ''] = values;
      if (values.length !== 1) return location.failCount(values.length, name);
      const result = type.tryParse(text);
      const isJsonMeant = asObject && isRefusal(result) && /^\s*\{/.test(text) && isJsonText(text);
      return isJsonMeant ? asObject.fromText(values, location) : valueOf(result, text, location);
    },
    fromJson(value, location) {
      if (typeof value === 'string') return valueOf(type.tryParse(value), value, location);
      return asObject ? asObject.fromJson(value, location) : location.failValue(value, name, undefined, described);
    },
    schema(schemas) {
      const text = { type: 'string', title: name };
      if (!asObject) return text;
      return schemas.direction === 'response' ? schemas.of(asObject) : { anyOf: [text, schemas.of(asObject)] };
    },
    // Said apart, because text in the quotation marks of JSON would be refused.
    ...(asObject && { schemaOfText: () => ({ type: 'string', title: name }) }),
    toJson: asObject?.toJson ?? (value => asText(value, type, name)),
  };
}

/** Returns true for `{ success: false }`; any other result is a value, or a mistake. */
const isRefusal = (result: unknown): boolean => (Object(result) as { success?: unknown }).success === false;

/**
 * Returns the value's text, or the value itself if it has a `toJSON`. Instances of other classes are refused.
 * @throws TypeError for a value with neither: its fields are not declared, and what is read is text.
 */
function asText(value: unknown, type: Parsable<unknown>, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && typeof type === 'function' && value instanceof type;
  if (!isOwn) return asScalar(value, name);
  if ('toJSON' in value) return value;
  // eslint-disable-next-line @typescript-eslint/no-base-to-string -- it has a text of its own.
  if (hasText(value)) return String(value);
  throw new TypeError(
    `The response has a ${name}, which has no form in JSON: add toString() or toJSON() to ${name}, ` +
      'or pass a converter for it (option converters).',
  );
}

/** Returns true for an object with a text of its own: that of every other is `[object Object]`, or `[object Map]`. */
const hasText = (value: object): boolean => Symbol.toPrimitive in value || value.toString !== Object.prototype.toString;
