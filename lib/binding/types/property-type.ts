import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe } from '../../options/check';
import type { Codec } from './codec';

/** The result of a parser: the value, or no success. */
export type ParseResult<T> = { readonly success: true; readonly value: T } | { readonly success: false };

/** Lets a type look up other codecs while its own is made. */
export interface Codecs {
  /** Returns the codec of a nested type. */
  of(type: AnyType): Codec;
  /** Returns the JSON name of a property. */
  jsonName(property: string): string;
  /** Postpones work that needs the codecs of types that may refer back to this one. */
  later(work: () => void): void;
}

/** A type of bindonce, for example `int` or `list(string)`. */
export interface ValueType<T> {
  /** Carries the type of the values; it has no value at run time. */
  readonly holds?: () => T;
  /** True if the value may be missing. */
  readonly isOptional?: boolean;
  /** True if JSON null is not a missing value. */
  readonly refusesNull?: boolean;
  /** Makes the codec that reads and writes its values at one endpoint. */
  codec(codecs: Codecs): Codec;
}

/** A class that parses its instances from text. */
export interface Parsable<T> {
  /** Returns the instance that a text stands for, or `{ success: false }` for a text that stands for none. */
  tryParse(text: string | undefined): ParseResult<T>;
}

/** A class whose properties are declared with `dto({...})` or decorators. */
export type DtoClass<T> = new () => T;

/** A class that is read by a value parser or a converter. */
export type AnyClass<T> = abstract new (...args: never[]) => T;

/**
 * Everything that is accepted where a type is expected: a type of bindonce, a Standard Schema, a class.
 * @typeParam T the type of its values.
 */
export type PropertyType<T = unknown> = ValueType<T> | StandardSchemaV1<unknown, T> | Parsable<T> | AnyClass<T>;

/** A type of any values. */
export type AnyType = PropertyType;

/** The TypeScript type of the values of a type. */
export type Infer<X> = X extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<X>
  : X extends ValueType<infer T>
    ? T
    : X extends Parsable<infer T>
      ? T
      : X extends AnyClass<infer T>
        ? T
        : never;

/**
 * The type of a value under options of type `O`, with `undefined` unless they certainly leave the value required: a
 * variable of the type `{ required?: boolean }` may hold false.
 */
export type IfRequired<T, O> = O extends unknown
  ? O[keyof O & 'required'] extends true | undefined
    ? T
    : T | undefined
  : never;

export const isValueType = (type: unknown): type is ValueType<unknown> =>
  typeof type === 'object' && has(type, 'codec') && typeof type.codec === 'function';

/** Returns true if JSON null is not a missing value of a type, but a wrong one. */
export const refusesNull = (type: unknown): boolean => isValueType(type) && type.refusesNull === true;

/** Returns true if the values of a type may be missing. */
export const isOptional = (type: unknown): boolean => isValueType(type) && type.isOptional === true;

/** Returns the name of a class; empty for another type. */
export const classNameOf = (type: unknown): string => (typeof type === 'function' ? type.name : '');

/**
 * Refuses anything that is not a type. These functions take unknown values, because callers without a compiler pass
 * anything.
 * @throws TypeError that names what was probably meant.
 */
export function assertType(type: unknown): asserts type is AnyType {
  if (has(type, 'declaredAs'))
    throw new TypeError(
      'a declaration such as field(int) is not a type; write the type alone (int). ' +
        'In a dto, the kind goes outside: routeParam(optional(int)).',
    );
  if (isValueType(type) || isSchema(type) || isParsable(type) || typeof type === 'function') return;
  throw new TypeError(
    `${describe(type)} is not a type that values can be bound to. ` +
      'Use a type of bindonce (string, int, list(…)), a dto class, a class with a static tryParse, ' +
      'or a Standard Schema.',
  );
}

export const isSchema = (type: unknown): type is StandardSchemaV1 =>
  has(type, '~standard') && has(type['~standard'], 'validate');

export const isParsable = (type: unknown): type is Parsable<unknown> =>
  has(type, 'tryParse') && typeof type.tryParse === 'function';

function has<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && name in value;
}
