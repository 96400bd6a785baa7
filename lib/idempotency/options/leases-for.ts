import { oneInProcess } from '../../basics/process';
import { backingStoreOf, isMapLike, namespaceOf, type KeyvLike } from '../stores/keyv-like';
import type { LeaseStore } from '../leases/lease-store';
import { memoryLeases } from '../leases/memory-leases';
import { redisLeasesFor } from '../stores/redis/leases';

/**
 * The leases of each store, shared by all middlewares on it, also when two copies of this package are loaded; hence one
 * map in the process, keyed by the object that actually holds the data, and by namespace.
 */
const shared = oneInProcess('leases', () => new WeakMap<object, Map<string | undefined, LeaseStore>>());

/**
 * Returns the leases that belong to a store: in memory for a Map, on the same server for Redis.
 * @throws TypeError for a store that other processes may share, and on which bindonce knows no atomic "set if absent".
 */
export function leasesFor(store: KeyvLike): LeaseStore {
  return leasesOfBackingStore(backingStoreOf(store), namespaceOf(store));
}

/** Returns the leases that belong to the object that holds the responses. */
export function leasesOfBackingStore(store: object, namespace?: string): LeaseStore {
  const byNamespace = shared.get(store) ?? new Map<string | undefined, LeaseStore>();
  shared.set(store, byNamespace);
  const leases = byNamespace.get(namespace) ?? make(store, namespace);
  byNamespace.set(namespace, leases);
  return leases;
}

function make(adapter: object, namespace: string | undefined): LeaseStore {
  const leases = isMapLike(adapter) ? memoryLeases() : redisLeasesFor(adapter, namespace);
  if (leases) return leases;
  throw new TypeError(
    `idempotency: store is a Keyv on ${adapter.constructor.name}, on which bindonce cannot hold leases. ` +
      remedyFor(adapter),
  );
}

function remedyFor(adapter: object): string {
  // The options of Keyv's adapters tell the kind of their database.
  if ((adapter as { opts?: { dialect?: unknown } }).opts?.dialect === 'postgres')
    return 'Pass `leases: postgresLeases(pool)`, with a Pool of pg on the same database.';
  return (
    'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this ' +
    'application runs in one process.'
  );
}
