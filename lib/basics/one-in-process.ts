/**
 * Returns what is kept under a name once in this process, however many copies of this module are loaded: their
 * middlewares guard the same requests.
 * @param make makes it on the first call with this name.
 */
export function oneInProcess<T extends object>(name: string, make: () => T): T {
  return ((globalThis as unknown as Record<symbol, T | undefined>)[Symbol.for(`bindonce.${name}`)] ??= make());
}
