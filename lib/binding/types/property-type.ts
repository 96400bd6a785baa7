import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Codec } from './codec';

/** The result of a parser, in the shape of SPEC's parse result. */
export type ParseResult<T> = { readonly success: true; readonly value: T } | { readonly success: false };

/** What a type can ask for when its codec is made. */
export interface Codecs {
  /** The codec of a type inside. */
  of<X extends AnyType>(type: X): Codec<Infer<X>>;
  /** The JSON name of a property. */
  jsonName(property: string): string;
  /** Puts off what needs the codecs of types that may refer back to this one. */
  later(work: () => void): void;
}

/** A type that values can be read into. */
export interface PropertyType<T> {
  /** True when a value may be missing. */
  readonly isOptional?: boolean;
  /** How its values are read and written at one endpoint. */
  codec(codecs: Codecs): Codec<T>;
}

/** A class that reads itself from text. */
export interface Parsable<T> {
  tryParse(text: string | undefined): ParseResult<T>;
}

/** A class whose properties are declared with `dto({...})` or decorators. */
export type DtoClass<T> = new () => T;

/** A class that is read by a value parser or a converter. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- The parameters of its constructor are nobody's business here.
export type AnyClass<T> = abstract new (...args: any[]) => T;

/** Whatever can stand where a type is expected. */
export type AnyType = PropertyType<unknown> | StandardSchemaV1 | Parsable<unknown> | AnyClass<unknown>;

/** The TypeScript type of the values of a type. */
export type Infer<X> = X extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<X>
  : X extends { codec(codecs: Codecs): Codec<infer T> }
    ? T
    : X extends Parsable<infer T>
      ? T
      : X extends AnyClass<infer T>
        ? T
        : never;

export function isPropertyType(type: unknown): type is PropertyType<unknown> {
  return typeof type === 'object' && type !== null && 'codec' in type && typeof type.codec === 'function';
}

/** True for a type whose values may be missing. */
export function isOptional(type: unknown): boolean {
  return isPropertyType(type) && type.isOptional === true;
}
