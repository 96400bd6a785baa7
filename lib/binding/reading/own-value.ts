/** Reads an own property of an object; inherited ones, such as `constructor` and `__proto__`, count as absent. */
export function ownValue(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
