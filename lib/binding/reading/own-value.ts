/** Returns true for a name that every object has something under: `constructor`, `toString`. */
export const isInherited = (name: string): boolean => name in Object.prototype;

/**
 * Reads a property that is to be written. A method under an inherited name is no value: the object has it of its class,
 * or as every object does.
 */
export function valueUnder(object: object, name: string): unknown {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'function' && isInherited(name) && !Object.hasOwn(object, name) ? undefined : value;
}

/** Reads an own property of an object; inherited ones, such as `constructor` and `__proto__`, count as absent. */
export function ownValue(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
