import { describe } from '../options/check';
import { newToken, PURGE } from './leases/token';
import type { ResolvedOptions } from './options/resolved-options';
import type { TimedStores } from './store-calls/timed-stores';

/**
 * Removes the response and the record of a run. An attempt to acquire the lease shows which run it was; a request that
 * is running is left alone.
 * @returns whether a run was recorded.
 * @throws TypeError for a key that is not text; StoreUnavailable.
 */
export async function purge(
  cacheKey: string,
  { storeTimeout }: ResolvedOptions,
  stores: TimedStores,
): Promise<boolean> {
  requireText(cacheKey);
  const own = { cacheKey, token: newToken(PURGE) };
  const found = await stores.acquire(own, storeTimeout);
  switch (found.kind) {
    case 'running':
      return false;
    case 'acquired':
      await stores.release(own);
      return false;
    case 'done': {
      const done = { cacheKey, token: found.token };
      await stores.release(done);
      await stores.remove(done);
      return true;
    }
  }
}

function requireText(cacheKey: unknown): void {
  if (typeof cacheKey !== 'string')
    throw new TypeError(`idempotency: purge() needs the text of req.idempotency.cacheKey, not ${describe(cacheKey)}`);
}
