type Maybe<T> = T | Promise<T>;

/**
 * A place for keys: `localStorage`, `sessionStorage`, or an object with the same methods, which may be asynchronous.
 */
export interface KeyStorage {
  getItem(name: string): Maybe<string | null | undefined>;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}

/** Keeps keys as long as this page or process lives. */
export function memoryStorage(): KeyStorage {
  const items = new Map<string, string>();
  return {
    getItem: name => items.get(name),
    setItem: (name, value) => items.set(name, value),
    removeItem: name => items.delete(name),
  };
}
