import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../lib';
import { guarded, type Run } from '../support/guarded';
import { heldLeases, HookedLeases } from '../support/hooked-leases';

async function served(options: IdempotencyOptions = {}) {
  let cacheKey = '';
  const act: Run = (req, res, _next, run) => {
    ({ cacheKey } = req.idempotency);
    res.json({ run });
  };
  const one = await guarded({ store: new Keyv({ store: new Map() }), ...options }, act);
  return { ...one, purge: () => one.guard.purge(cacheKey) };
}

describe('purge', () => {
  it('removes a stored response: the next request runs the handler', async () => {
    const store = new Keyv({ store: new Map<string, unknown>() });
    const { purge, post } = await served({ store });
    await post();
    expect([await purge(), (store.store as Map<string, unknown>).size]).toEqual([true, 0]);
    expect([(await post()).text, (await post()).text]).toEqual(['{"run":2}', '{"run":2}']);
  });

  it('removes the record of a response that was too large to keep', async () => {
    const { purge, post } = await served({ maxResponseBytes: 1 });
    await post();
    expect([(await post()).status, await purge(), (await post()).text]).toEqual([409, true, '{"run":2}']);
  });

  it('leaves a request that is running alone', async () => {
    const { leases, asked, goOn } = heldLeases('complete');
    const { purge, post, runs } = await served({ leases });
    const first = post();
    await asked;
    expect(await purge()).toBe(false);
    goOn();
    expect([(await first).text, (await post()).text, runs()]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it('is a rejection when the store is down, within storeTimeout', async () => {
    const leases = new HookedLeases({ acquire: () => Promise.reject(new Error('ECONNREFUSED')) });
    const { guard } = await served({ storeTimeout: 60, leases });
    await expect(guard.purge('k')).rejects.toMatchObject({
      code: 'store-unavailable',
      message: 'acquire() of the lease store failed: ECONNREFUSED. Check the store and its connection.',
    });
  });
});
