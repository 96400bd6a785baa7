import { setAndSweep, shared } from './page.js';

type Maybe<T> = T | Promise<T>;

/**
 * A place for keys: `localStorage`, `sessionStorage`, or an object with the same methods, which may be asynchronous.
 */
export interface KeyStorage {
  getItem(name: string): Maybe<string | null | undefined>;
  setItem(name: string, value: string): unknown;
  removeItem(name: string): unknown;
}

/** Keeps keys as long as this page or process lives, or until they expire. */
export const memory: KeyStorage = {
  getItem: name => shared.items.get(name),
  setItem: (name, value) => {
    setAndSweep(shared.items, name, value, entry => (JSON.parse(entry) as { readonly until: number }).until);
  },
  removeItem: name => shared.items.delete(name),
};
