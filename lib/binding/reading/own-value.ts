/**
 * Reads a property that is to be written. A method is not a value, as for `JSON.stringify`: the object has it of its
 * class, or, as `toString`, like every object.
 */
export function writableValue(object: object, name: string): unknown {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'function' ? undefined : value;
}

/** Reads an own property of an object; inherited ones, such as `constructor` and `__proto__`, count as absent. */
export function ownValue(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
