import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../lib';
import { guarded } from '../support/guarded';
import { heldLeases, HookedLeases } from '../support/hooked-leases';

/** A service, and what purges its latest run. */
async function served(options: IdempotencyOptions = {}) {
  let cacheKey = '';
  const one = await guarded(options, (req, res, _next, run) => {
    ({ cacheKey } = req.idempotency);
    res.json({ run });
  });
  const textOf = async (): Promise<string> => (await one.post()).text;
  return { ...one, textOf, purge: () => one.guard.purge(cacheKey) };
}

describe('purge', () => {
  it('removes a stored response: the next request runs the handler', async () => {
    const map = new Map<string, unknown>();
    const { purge, textOf } = await served({ store: new Keyv({ store: map }) });
    await textOf();
    expect([await purge(), map.size]).toEqual([true, 0]);
    expect([await textOf(), await textOf()]).toEqual(['{"run":2}', '{"run":2}']);
  });

  it('leaves a request that is running alone', async () => {
    const { leases, asked, goOn } = heldLeases('complete');
    const { purge, textOf, runs } = await served({ leases, store: new Keyv() });
    const first = textOf();
    await asked;
    expect(await purge()).toBe(false);
    goOn();
    expect([await first, await textOf(), runs()]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it('is a rejection when the store is down, within storeTimeout', async () => {
    const leases = new HookedLeases({ acquire: () => Promise.reject(new Error('ECONNREFUSED')) });
    const { guard } = await served({ storeTimeout: 60, leases, store: new Keyv() });
    await expect(guard.purge('k')).rejects.toMatchObject({
      code: 'store-unavailable',
      message: 'acquire() of the lease store failed: ECONNREFUSED. Check the store and its connection.',
    });
  });
});
