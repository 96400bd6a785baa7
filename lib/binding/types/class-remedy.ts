import type { AnyType } from './property-type';

/** Advises what to use instead of a class that can neither be read nor written. */
export function remedyFor(type: AnyType): string {
  const meant = ownTypes.get(type);
  if (meant !== undefined) return `the type for it is ${meant}`;
  return (
    'declare them with dto({...}) or decorators, or pass a value parser (valueParserFor) or a converter for it, ' +
    'or, if it makes types as list does, call it: list(string)'
  );
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
