import { classNameOf } from './class-name';
import type { ObjectCodec, ScalarCodec } from './codec';
import { accepted } from './parse-result';
import type { Parsable } from './property-type';
import { readJson } from './read-json';
import { asScalar } from './write-value';

/**
 * Makes the codec of a class with `static tryParse(text)`. In JSON its values are strings.
 * @param inner reads and writes JSON objects by the declared properties of the class, if it has any.
 */
export function parsableCodec(type: Parsable<unknown>, inner?: ObjectCodec): ScalarCodec {
  const className = classNameOf(type);
  const name = className || 'value';
  const described = `text that ${className || 'this type'} accepts; send a string`;
  const parse = (text: string): unknown => accepted(type.tryParse(text), `${name}.tryParse`);
  return {
    kind: 'scalar',
    name,
    text: parse,
    json: value => (typeof value === 'string' ? parse(value) : undefined),
    inner,
    read: (value, at) =>
      inner && typeof value !== 'string'
        ? readJson(inner, value, at)
        : at.failValue(value, name, undefined, typeof value === 'string' ? undefined : described),
    schema: { type: 'string', title: name },
    ...(inner ? { schemaOfText: { type: 'string', title: name } } : { write: value => asText(value, type, name) }),
  };
}

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
