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

  it('leaves other responses', async () => {
    const { guard, state, post } = await served();
    await post('other');
    await post('k');
    await guard.purge(state.cacheKey);
    expect((await post('other')).text).toBe('{"run":1}');
  });

  it.each([5, undefined, null, {}])('of %p, which is no text, is a TypeError', async cacheKey => {
    const { guard } = await served();
    await expect(guard.purge(cacheKey as unknown as string)).rejects.toThrow(
      /^idempotency: purge\(\) needs the text of req\.idempotency\.cacheKey, not /,
    );
  });

  it('is false if nothing is stored, and does no harm', async () => {
    const { guard, state, post } = await served();
    expect(await guard.purge('unknown')).toBe(false);
    await post();
    expect(await guard.purge(state.cacheKey)).toBe(true);
    expect(await guard.purge(state.cacheKey)).toBe(false);
    expect((await post()).text).toBe('{"run":2}');
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

  it('leaves the lease of a request whose response is being stored as long as it was', async () => {
    const [storing, mayStore] = [signal(), signal()];
    const leases = new HookedLeases({
      complete() {
        storing.happens();
        return mayStore.happened;
      },
    });
    const { guard, state, post } = await served({ leases, leaseDuration: 30_000, storeTimeout: 1_000 });
    const first = post();
    await storing.happened;
    expect(await guard.purge(state.cacheKey)).toBe(false);
    const seen = await leases.acquire(state.cacheKey, 'another process', 1);
    expect(seen).toMatchObject({ kind: 'running' });
    expect(seen.kind === 'running' && seen.msLeft).toBeGreaterThan(20_000);
    mayStore.happens();
    expect([(await first).text, state.runs]).toEqual(['{"run":1}', 1]);
  });

  it.each<IdempotencyOptions>([{}, { whenKeyReused: 'reject' }])(
    'that is under way lets a request of its key run, with %j',
    async options => {
      const purging = signal();
      const mayRelease = signal();
      let first = '';
      const leases = new HookedLeases({
        release: (_key, token) => {
          first ||= token;
          if (token !== first) return;
          purging.happens();
          return mayRelease.happened;
        },
      });
      const { guard, state, post } = await served({ leases, waitTimeout: 3_000, ...options });
      await post();
      await guardless(leases, state.cacheKey);
      const purged = guard.purge(state.cacheKey);
      await purging.happened;
      const answer = post();
      setImmediate(() => mayRelease.happens());
      expect([(await answer).text, await purged]).toEqual(['{"run":2}', false]);
    },
  );

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

/** Gives up the record of a key, so that the next purge finds nothing. */
async function guardless(leases: HookedLeases, cacheKey: string): Promise<void> {
  const found = await leases.acquire(cacheKey, 'probe', 1);
  if (found.kind === 'done') await leases.leases.release(cacheKey, found.token);
}
