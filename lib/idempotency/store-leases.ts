import { holderOf, namespaceOf, type KeyvLike } from './stores/keyv-like';
import type { LeaseStore } from './leases/lease-store';
import { memoryLeasesBeside } from './leases/memory-leases';
import { redisLeasesBeside } from './redis/leases';

/**
 * Two middlewares on one store must share their leases, also when two copies of this package are loaded; hence one map in
 * the process, keyed by what actually holds the data, and by namespace.
 */
const SHARED = Symbol.for('bindonce.leases');
const shared = ((globalThis as { [SHARED]?: WeakMap<object, Map<string | undefined, LeaseStore>> })[SHARED] ??=
  new WeakMap());

/**
 * The leases that belong to a store: in memory beside a Map, on the same server beside Redis.
 * @throws TypeError for a store that other processes may share and that has no atomic "set if absent" that we can reach.
 */
export function leasesBeside(store: KeyvLike): LeaseStore {
  const [holder, namespace] = [holderOf(store), namespaceOf(store)];
  const byNamespace = shared.get(holder) ?? new Map<string | undefined, LeaseStore>();
  shared.set(holder, byNamespace);
  const leases = byNamespace.get(namespace) ?? make(holder, namespace);
  byNamespace.set(namespace, leases);
  return leases;
}

/** Each knows one kind of store, and makes nothing beside the others. */
const kinds: readonly ((adapter: object, namespace: string | undefined) => LeaseStore | undefined)[] = [
  memoryLeasesBeside,
  redisLeasesBeside,
];

function make(adapter: object, namespace: string | undefined): LeaseStore {
  for (const beside of kinds) {
    const leases = beside(adapter, namespace);
    if (leases) return leases;
  }
  throw new TypeError(
    `idempotency: store is a Keyv on ${adapter.constructor.name}, on which bindonce cannot take leases. ${remedyFor(adapter)}`,
  );
}

function remedyFor(adapter: object): string {
  // Keyv's adapters say in their options which kind of database they are on.
  if ((adapter as { opts?: { dialect?: unknown } }).opts?.dialect === 'postgres')
    return 'Pass `leases: postgresLeases(pool)`, with a Pool of pg on the same database.';
  return 'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this application runs in one process.';
}
