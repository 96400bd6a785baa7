import { asJson } from '../reading/json-text';
import type { AnyCodec, ScalarCodec } from './codec';
import type { ValueType } from './property-type';
import type { JsonSchema } from './schema-shape';

/** Makes a type whose codec is the same at every endpoint. */
export function typeWith<T>(codec: AnyCodec): ValueType<T> {
  return { codec: () => codec };
}

/** The text and JSON forms of a type of one value. A reader accepts the whole input or returns undefined. */
interface Spelling<T> extends Pick<ScalarCodec, 'write' | 'needsExactNumbers' | 'writtenSchema' | 'refusal'> {
  readonly text: (text: string) => T | undefined;
  /** Reads a JSON value. Default: JSON strings are read like other text. */
  readonly json?: (value: unknown) => T | undefined;
  readonly schema: JsonSchema;
  readonly described: string;
}

/** Makes a type of one value. */
export function scalar<T>(name: string, spelling: Spelling<T>): ValueType<T> {
  return typeWith({ kind: 'scalar', name, json: ifText(spelling.text), ...spelling });
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
  kind: 'scalar',
  name: 'string',
  described: 'a string',
  takesAnyText: true,
  isJoined: true,
  text: text => text,
  json: value => (typeof value === 'string' ? value : undefined),
  schema: { type: 'string' },
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
