import express from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { HookedLeases } from '../support/hooked-leases';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

async function served(
  options: IdempotencyOptions = {},
  answer: (res: express.Response, run: number) => unknown = (res, run) => res.json({ run }),
) {
  const state = { runs: 0, cacheKey: '' };
  const guard = idempotency({ store: new Keyv({ store: new Map() }), ...options });
  const { url } = await serve(
    express().post('/', guard, async (req, res) => {
      state.cacheKey = req.idempotency.cacheKey;
      await answer(res, ++state.runs);
    }),
  );
  return { guard, state, post: (key = 'k'): Promise<WireResponse> => send(url, { headers: keyed(key) }) };
}

describe('purge', () => {
  it('removes a stored response: the next request runs the handler', async () => {
    const store = new Keyv({ store: new Map<string, unknown>() });
    const { guard, state, post } = await served({ store });
    await post();
    expect(await guard.purge(state.cacheKey)).toBe(true);
    expect((store.store as Map<string, unknown>).size).toBe(0);
    expect([(await post()).text, (await post()).text]).toEqual(['{"run":2}', '{"run":2}']);
  });

  it.each([5, undefined, null, {}])('of %p, which is no text, is a TypeError', async cacheKey => {
    const { guard } = await served();
    await expect(guard.purge(cacheKey as unknown as string)).rejects.toThrow(
      /^idempotency: purge\(\) needs the text of req\.idempotency\.cacheKey, not /,
    );
  });

  it('removes the record of a response that was too large to keep', async () => {
    const { guard, state, post } = await served({ maxResponseBytes: 1 });
    await post();
    expect((await post()).status).toBe(409);
    expect(await guard.purge(state.cacheKey)).toBe(true);
    expect((await post()).text).toBe('{"run":2}');
  });

  it('leaves a request that is running alone', async () => {
    const running = signal();
    const mayEnd = signal();
    const { guard, state, post } = await served({}, async (res, run) => {
      running.happens();
      await mayEnd.happened;
      res.json({ run });
    });
    const first = post();
    await running.happened;
    expect(await guard.purge(state.cacheKey)).toBe(false);
    mayEnd.happens();
    expect([(await first).text, (await post()).text, state.runs]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it('is a rejection when the store is down, within storeTimeout', async () => {
    const { guard } = await served({
      storeTimeout: 60,
      leases: new HookedLeases({
        acquire: () => {
          throw new Error('ECONNREFUSED');
        },
      }),
    });
    await expect(guard.purge('k')).rejects.toMatchObject({
      code: 'store-unavailable',
      message: 'acquire() of the lease store failed: ECONNREFUSED. Check the store and its connection.',
    });
  });
});
