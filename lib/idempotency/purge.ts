import { withinDeadline } from './deadline';
import { newToken, PURGE } from './leases/token';
import type { Settings } from './options';

/**
 * Removes a stored response. An attempt to acquire tells whose response it is; a request that is running is left alone.
 * @returns whether there was a stored response.
 * @throws StoreTimeout
 */
export async function purge(cacheKey: string, { leases, responses, storeTimeout }: Settings): Promise<boolean> {
  const token = newToken(PURGE);
  const release = (owner: string): Promise<boolean> =>
    withinDeadline(() => leases.release(cacheKey, owner), storeTimeout);
  const found = await withinDeadline(
    () => leases.acquire(cacheKey, token, storeTimeout),
    storeTimeout,
    () => {
      release(token).catch(() => undefined);
    },
  );
  switch (found.kind) {
    case 'running':
      return false;
    case 'acquired':
      await release(token);
      return false;
    case 'done':
      await release(found.token);
      await withinDeadline(() => responses.remove(cacheKey, found.token), storeTimeout);
      return true;
  }
}
