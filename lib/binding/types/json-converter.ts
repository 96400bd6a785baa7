import type { AnyType, ParseResult } from './property-type';

/** Reads and writes the JSON of a type that has no JSON form of its own, or replaces that form. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- A list of converters has one of each type.
export interface JsonConverter<T = any> {
  /** The class or type, as used in declarations. */
  readonly type: AnyType;
  /** Reads a JSON value: text, a number, an object, an array, true, false or null. */
  read(json: unknown): ParseResult<T>;
  /** Returns what is written for a value: anything that JSON can hold. */
  write(value: T): unknown;
}
