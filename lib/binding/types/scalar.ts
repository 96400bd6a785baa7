import { isExactNumber } from '../../body/content/exact-json';
import { WrittenNumber } from './exact-text';
import { asJson } from '../reading/json-text';
import type { Location } from '../reading/location';
import type { Codec, ReadJson } from './codec';
import type { JsonSchema } from './json-schema';
import type { ValueType } from './property-type';

/** Makes a type whose codec is the same at every endpoint. */
export function typeWith<T>(codec: Codec<T>): ValueType<T> {
  return { codec: () => codec };
}

/** The text and JSON forms of a type of one value. A reader accepts the whole input or returns undefined. */
interface Spelling<T> {
  readonly text: (text: string) => T | undefined;
  /** Reads a JSON value. Default: JSON strings are read like other text. */
  readonly json?: (value: unknown) => T | undefined;
  /** Converts a value to what JSON holds for it. Default: the value as it is. */
  readonly write?: (value: unknown) => unknown;
  readonly needsExactNumbers?: boolean;
  /** Describes the JSON that is read, and the JSON that is written if that is described otherwise. */
  readonly schema: JsonSchema;
  readonly writtenSchema?: JsonSchema;
  /** The type in the message about a refused value, for clients: "The value … is not <described>." */
  readonly described: string;
  /** Makes the message for a refused JSON value. Default: it names the value and the type. */
  readonly refusal?: (value: unknown) => string | undefined;
}

/** Makes a type of one value. */
export function scalar<T>(name: string, spelling: Spelling<T>): ValueType<T> {
  const { text, json = ifText(text), write, needsExactNumbers = false, schema, writtenSchema = schema } = spelling;
  const { described, refusal } = spelling;
  return typeWith({
    name,
    shape: 'scalar',
    needsExactNumbers,
    fromText(values, location) {
      const [only = ''] = values;
      if (values.length !== 1) return location.failCount(values.length, name);
      return text(only) ?? location.failValue(only, name, undefined, described);
    },
    fromJson: fast(json, name, described, refusal),
    toJson: value => asScalar(write ? write(value) : value, name),
    schema: ({ direction }) => (direction === 'request' ? schema : writtenSchema),
  });
}

function fast<T>(
  read: (value: unknown) => T | undefined,
  name: string,
  described: string,
  refusal?: (value: unknown) => string | undefined,
): ReadJson<T> {
  return Object.assign(
    (value: unknown, location: Location) => read(value) ?? location.failValue(value, name, refusal?.(value), described),
    { fast: read },
  );
}

/**
 * @throws TypeError for an object: a handler that passes another value than declared must not expose it to the client.
 */
export function asScalar(json: unknown, name: string): unknown {
  if (typeof json === 'bigint') return new WrittenNumber(String(json));
  if (typeof json !== 'object' || json === null || isExactNumber(json)) return json;
  const text = asJson(json);
  if (typeof text !== 'object' || text === null) return text;
  throw new TypeError(`The response declares ${name} here, but the handler passed an object.`);
}

/** Reads text, and an object that a parser in front has made of it, such as a Date. */
const ifText =
  <T>(read: (text: string) => T | undefined) =>
  (value: unknown): T | undefined => {
    const text = typeof value === 'string' ? value : asJson(value);
    return typeof text === 'string' ? read(text) : undefined;
  };

/** Any text. Repeated values are joined, as a repeated header is (RFC 9110, section 5.3). */
export const string: ValueType<string> = typeWith({
  name: 'string',
  shape: 'scalar',
  takesEmptyText: true,
  takesAnyText: true,
  fromText: values => values.join(','),
  fromJson: fast(value => (typeof value === 'string' ? value : undefined), 'string', 'a string'),
  toJson: value => asScalar(value, 'string'),
  schema: () => ({ type: 'string' }),
});

/** `true` or `false` in any case; nothing else. */
export const bool: ValueType<boolean> = scalar('bool', {
  described: 'true or false',
  text(text) {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === 'false' ? word === 'true' : undefined;
  },
  json: value => (typeof value === 'boolean' ? value : undefined),
  schema: { type: 'boolean' },
});
