import { objectType } from './object';
import { failure, type AnyType, type Parsable, type PropertyType } from './property-type';
import { scalar } from './scalar';

/** The type that a dto class, a class with `tryParse`, or a type stands for. @throws TypeError when it is none of them. */
export function typeOf(type: AnyType): PropertyType<unknown> {
  if (isPropertyType(type)) {
    if (type.mistake) throw type.mistake;
    return type;
  }
  if (isParsable(type)) return scalar((type as { name?: string }).name ?? 'value', text => type.tryParse(text), value => (typeof value === 'string' ? type.tryParse(value) : failure));
  if (typeof type === 'function') return objectType(type);
  throw new TypeError(`${String(type)} is not a type that values can be bound to. Use a type of bindonce (string, int, list(…)), a dto class, or a class with a static tryParse.`);
}

/** The type inside another. A mistake is kept for when the name of the property is known. */
export function innerTypeOf(type: AnyType): PropertyType<unknown> {
  try {
    return typeOf(type);
  } catch (error) {
    const refuse = (): never => { throw error; };
    return { name: '', shape: 'scalar', mistake: error as Error, fromText: refuse, fromJson: refuse };
  }
}

/** The parameters are unknown: callers without a compiler pass anything. */
function isPropertyType(type: unknown): type is PropertyType<unknown> {
  return typeof type === 'object' && type !== null && 'fromText' in type;
}

function isParsable(type: unknown): type is Parsable<unknown> {
  return (typeof type === 'function' || typeof type === 'object') && type !== null && 'tryParse' in type && typeof type.tryParse === 'function';
}
