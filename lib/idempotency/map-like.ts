import type { Keyv } from 'keyv';

/** What tells a collection in this process from the adapter of a server: it can be iterated or counted on the spot. */
export function isMapLike(store: object): boolean {
  return Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';
}

/**
 * What actually holds a Keyv's data: Keyv 5 has the adapter itself as its store; Keyv 6 wraps a Map in an adapter of
 * its own.
 */
export function holderOf(store: Keyv): object {
  const adapter = store.store as object;
  const inner = (adapter as { store?: unknown }).store;
  return typeof inner === 'object' && inner !== null && isMapLike(inner) ? inner : adapter;
}
