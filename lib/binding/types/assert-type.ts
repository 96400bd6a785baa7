import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isValueType, type AnyType, type Parsable } from './property-type';

/**
 * Refuses anything that is not a type. These functions take unknown values, because callers without a compiler pass
 * anything.
 * @param hintForText is added to the message about a text.
 * @throws TypeError that names what was probably meant.
 */
export function assertType(type: unknown, hintForText = ''): asserts type is AnyType {
  if (has(type, 'declaredAs'))
    throw new TypeError(
      'a declaration such as field(int) is not a type; write the type alone (int). ' +
        'In a dto, the kind goes outside: routeParam(optional(int)).',
    );
  if (isValueType(type) || isSchema(type) || isParsable(type) || typeof type === 'function') return;
  throw new TypeError(
    `${nameOf(type, hintForText)} is not a type that values can be bound to. ` +
      'Use a type of bindonce (string, int, list(…)), a dto class, a class with a static tryParse, ' +
      'or a Standard Schema.',
  );
}

/** Names the value that was given instead of a type, and what was probably meant. */
function nameOf(type: unknown, hintForText: string): string {
  if (typeof type === 'string') return `The text ${JSON.stringify(type.slice(0, 60))}${hintForText}`;
  if (Array.isArray(type)) return 'An array (write list(int) for a collection of int)';
  return typeof type === 'object' && type !== null
    ? 'An object (a dto is a class: class Address extends dto({ street: string }) {})'
    : String(type);
}

export function isSchema(type: unknown): type is StandardSchemaV1 {
  return has(type, '~standard') && has(type['~standard'], 'validate');
}

export function isParsable(type: unknown): type is Parsable<unknown> {
  return has(type, 'tryParse') && typeof type.tryParse === 'function';
}

function has<K extends string>(value: unknown, name: K): value is Record<K, unknown> {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && name in value;
}

/** Advises what to use instead of a class that can neither be read nor written. */
export function remedyFor(type: AnyType): string {
  const meant = ownTypes.get(type);
  return meant === undefined
    ? 'declare them with dto({...}) or decorators, or pass a value parser (valueParserFor) or a converter for it, ' +
        'or, if it makes types as list does, call it: list(string)'
    : `the type for it is ${meant}`;
}

/** JavaScript's own classes, and the types to use instead of them. */
const ownTypes: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'int, double or decimal'],
  [Boolean, 'bool'],
  [BigInt, 'long'],
  [Date, 'dateTime'],
  [URL, 'uri'],
  [Array, 'list(…)'],
  [Object, 'a class that extends dto({...})'],
]);
