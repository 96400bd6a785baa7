import type { Keyv } from 'keyv';
import type { LeaseStore } from './lease-store';
import { memoryLeases } from './memory-leases';
import { redisLeases, type RedisClient } from './redis-leases';

/**
 * Two middlewares on one store must share their leases, also when two copies of this package are loaded; hence one map in
 * the process, keyed by what actually holds the data, and by namespace.
 */
const SHARED = Symbol.for('bindonce.leases');
const shared = ((globalThis as { [SHARED]?: WeakMap<object, Map<string | undefined, LeaseStore>> })[SHARED] ??= new WeakMap());

/**
 * The leases that belong to a store: in memory beside a Map, on the same server beside Redis.
 * @throws TypeError for a store that other processes may share and that has no atomic "set if absent" that we can reach.
 */
export function leasesBeside(store: Keyv): LeaseStore {
  const holder = holderOf(store);
  const byNamespace = shared.get(holder) ?? new Map<string | undefined, LeaseStore>();
  shared.set(holder, byNamespace);
  const leases = byNamespace.get(store.namespace) ?? make(holder, store.namespace);
  byNamespace.set(store.namespace, leases);
  return leases;
}

function make(holder: object, namespace: string | undefined): LeaseStore {
  if (isMapLike(holder)) return memoryLeases();
  const client = (holder as { client?: unknown }).client;
  if (isRedisClient(client)) return redisLeases(client, namespace === undefined ? {} : { prefix: `${namespace}:bindonce:lease:` });
  throw new TypeError(`idempotency: store is a Keyv on ${holder.constructor.name}, on which bindonce cannot take leases. `
    + 'Use a Map or @keyv/redis, or pass `leases`: redisLeases(client), or memoryLeases() when this application runs in one process.');
}

/** Keyv 5 has the adapter itself as its store; Keyv 6 wraps a Map in an adapter of its own. */
function holderOf(store: Keyv): object {
  const adapter = store.store as object;
  const inner = (adapter as { store?: unknown }).store;
  return typeof inner === 'object' && inner !== null && isMapLike(inner) ? inner : adapter;
}

/** A collection in this process: what tells it from the adapter of a server is that it can be iterated or counted on the spot. */
function isMapLike(store: object): boolean {
  return Symbol.iterator in store || typeof (store as { size?: unknown }).size === 'number';
}

function isRedisClient(client: unknown): client is RedisClient {
  return typeof client === 'object' && client !== null && 'eval' in client && 'connect' in client && 'isOpen' in client;
}
