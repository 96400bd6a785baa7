import { endAt, setAndSweep, shared } from './page.js';

type Maybe<T> = T | Promise<T>;

/**
 * A place for keys: `localStorage`, `sessionStorage`, or an object with the same methods, which may be asynchronous.
 */
export interface KeyStorage {
  /** Returns the text that was stored under a name; null or undefined if there is none. */
  getItem(name: string): Maybe<string | null | undefined>;
  /**
   * Stores text under a name, in place of an earlier one, which must still be there if it fails, or dies in the middle.
   * A promise that it returns is awaited.
   */
  setItem(name: string, value: string): unknown;
  /** Removes what is stored under a name, if there is anything. A promise that it returns is awaited. */
  removeItem(name: string): unknown;
}

/** Keeps keys as long as this page or process lives, or until they expire. */
export const memory: KeyStorage = {
  getItem: name => shared.items.get(name)?.text,
  setItem: (name, text) => {
    const { until } = JSON.parse(text) as { readonly until: number };
    setAndSweep(shared.items, name, { text, end: endAt(until) }, ({ end }) => end);
  },
  removeItem: name => shared.items.delete(name),
};
