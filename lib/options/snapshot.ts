import { entriesOf } from './entries';

/**
 * Copies options, with the arrays in them and the objects under some names, so that what an application changes later
 * has no effect.
 * @param nested names of options that are objects of options themselves. Any other object is the application's own.
 */
export function snapshotOf<O extends object>(options: O, ...nested: readonly (keyof O & string)[]): O {
  const copies = entriesOf(options).map(([name, value]) => {
    if (Array.isArray(value)) return [name, [...(value as unknown[])]];
    return [name, isPlain(value) && (nested as readonly string[]).includes(name) ? snapshotOf(value) : value];
  });
  return Object.fromEntries(copies) as O;
}

/** Returns false for an instance of a class: the option `uploads` may be a Multer. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
