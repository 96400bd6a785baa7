import { oneInProcess } from '../../basics/one-in-process';
import type { LeaseStore } from '../leases/lease-store';
import type { RunId } from '../leases/token';

/**
 * The runs whose responses this process is storing just now, for each lease store: their tokens by cache key. Shared by
 * all copies of this module, since their middlewares may share a lease store.
 */
const tokens = oneInProcess('held-tokens', () => new WeakMap<LeaseStore, Map<string, string>>());

/** Returns the token of the run whose response this process is storing under a key. */
export function tokenHeldHere(cacheKey: string, leases: LeaseStore): string | undefined {
  return tokens.get(leases)?.get(cacheKey);
}

/** Notes that this process is storing the response of a run. @returns a function that ends this. */
export function holdToken({ cacheKey, token }: RunId, leases: LeaseStore): () => void {
  const held = tokens.get(leases) ?? new Map<string, string>();
  tokens.set(leases, held.set(cacheKey, token));
  return () => {
    if (held.get(cacheKey) === token) held.delete(cacheKey);
  };
}
