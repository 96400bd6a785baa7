import type { Invalid, Place } from '../place';

/** The result of a parser, in the shape of SPEC's parse result. */
export type ParseResult<T> = { readonly success: true; readonly value: T } | { readonly success: false };

export const failure = { success: false } as const;
export const success = <T>(value: T): ParseResult<T> => ({ success: true, value });

/**
 * A type that values can be read into. Text comes from forms, routes, queries, claims, headers and cookies; JSON from a
 * body, or from text that holds JSON.
 */
export interface PropertyType<T> {
  /** As it appears in messages: "int", "list of guid". */
  readonly name: string;
  /** What the type is made for, where that decides how it is looked up. */
  readonly shape: 'scalar' | 'list' | 'object' | 'file';
  /** True when a value may be missing. */
  readonly isOptional?: boolean;
  /** True when several values make one: it is spelled `n`, `n[]` or `n[3]`. */
  readonly isCollection?: boolean;
  /** True when empty text is a value. */
  readonly takesEmptyText?: boolean;
  /** True when JSON `null` is a value. */
  readonly takesNull?: boolean;
  /** True when JSON numbers must keep all their digits for it: a double would round them. */
  readonly keepsDigits?: boolean;
  /** Why the type cannot be used; thrown where the name of the property is known. */
  readonly mistake?: Error;
  fromText(values: readonly string[], place: Place): T | Invalid;
  fromJson(value: unknown, place: Place): T | Invalid;
  fromFiles?(files: readonly Express.Multer.File[], place: Place): T | Invalid;
}

/** A class that reads itself from text. */
export interface Parsable<T> {
  tryParse(text: string | undefined): ParseResult<T>;
}

/** A class whose properties are declared with `dto({...})` or decorators. */
export type DtoClass<T> = new () => T;

/** Whatever can stand where a type is expected. */
export type AnyType = PropertyType<unknown> | Parsable<unknown> | DtoClass<unknown>;

/** The TypeScript type of the values of a type. */
export type Infer<X> =
  X extends { fromText(values: readonly string[], place: Place): infer T | Invalid } ? Exclude<T, Invalid>
  : X extends Parsable<infer T> ? T
  : X extends new () => infer T ? T
  : never;
