/** Merges options over their defaults. An option that is `undefined` counts as absent. */
export function withDefaults<D extends object, G extends object>(defaults: D, given: G): D & G {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) } as D &
    G;
}

/**
 * Copies options, with the arrays in them and the objects under some names, so that what an application changes later
 * has no effect.
 * @param nested names of options that are objects of options themselves. Any other object is the application's own.
 */
export function snapshotOf<O extends object>(options: O, ...nested: readonly (keyof O & string)[]): O {
  const copies = Object.entries(options).map(([name, value]: [string, unknown]) => {
    if (Array.isArray(value)) return [name, [...(value as unknown[])]];
    return [name, isPlain(value) && (nested as readonly string[]).includes(name) ? snapshotOf(value as object) : value];
  });
  return Object.fromEntries(copies) as O;
}

/**
 * Returns false for an instance of a class: one whose options are getters would silently have none, and the option
 * `uploads` may be a Multer. The `Object.prototype` of another realm has no prototype either.
 */
export function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
