import type { AnyType, ParseResult } from './property-type';

/** Reads and writes the JSON of a type that cannot do it by itself, or does it otherwise. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- A list of converters has one of each type.
export interface JsonConverter<T = any> {
  /** The class or type, as it stands in declarations. */
  readonly type: AnyType;
  /** Reads a JSON value: text, a number, an object, an array, true, false or null. */
  read(json: unknown): ParseResult<T>;
  /** What is written for a value: anything that JSON can hold. */
  write(value: T): unknown;
}
