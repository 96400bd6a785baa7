/** What an object has of its own under a name: `constructor` and `__proto__` are names like any other. */
export function ownValue(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}
