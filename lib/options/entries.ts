/**
 * Lists the options in an object, by name: its own, and those of its class, which may have them as getters. Methods are
 * not options.
 */
export function entriesOf(options: object): [name: string, value: unknown][] {
  const names = new Set(Object.keys(options));
  let above = Object.getPrototypeOf(options) as object | null;
  while (above && !isRoot(above)) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(above)))
      if (descriptor.get !== undefined || descriptor.enumerable) names.add(name);
    above = Object.getPrototypeOf(above) as object | null;
  }
  return [...names].map(name => [name, (options as Record<string, unknown>)[name]]);
}

/** Returns true for the `Object.prototype` of any realm: its getter `__proto__` is not an option. */
const isRoot = (prototype: object): boolean => Object.getPrototypeOf(prototype) === null;
