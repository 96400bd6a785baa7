import { createHmac } from 'node:crypto';
import express, { Router } from 'express';
import { idempotency, memoryLeases, type LeaseStore, type RunFacts } from '../../../lib';
import { HookedLeases } from '../../support/hooked-leases';
import { send, type WireResponse } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

describe('while a handler is at work in this process', () => {
  it.each(['reject', 'run'] as const)(
    'a duplicate does not run when the store fails, with whenStoreFails: %s',
    async whenStoreFails => {
      const [running, mayEnd] = [signal(), signal()];
      let isAway = false;
      const leases = new HookedLeases({
        acquire: () => {
          if (isAway) throw new Error('the store is away');
        },
      });
      let runs = 0;
      const { url } = await serve(
        express().post('/', idempotency({ leases, whenStoreFails, storeTimeout: 100 }), async (_req, res) => {
          runs++;
          running.happens();
          await mayEnd.happened;
          res.json({ run: runs });
        }),
      );
      const post = (key: string): Promise<WireResponse> => send(url, { headers: keyed(key) });
      const first = post('k');
      await running.happened;
      isAway = true;
      expect([(await post('k')).status, runs]).toEqual([503, 1]);
      mayEnd.happens();
      expect((await first).text).toBe('{"run":1}');
    },
  );
});

describe('a lease store is told of each run', () => {
  /** @returns what the store was told of two requests, and how often it was asked for its salt. */
  async function told(salt: LeaseStore['salt'] | undefined, scope?: string) {
    const facts: (RunFacts | undefined)[] = [];
    const leases = memoryLeases();
    const store: LeaseStore = Object.assign(leases, {
      acquire: ((key, token, ms, about) => {
        facts.push(about);
        return Object.getPrototypeOf(leases).acquire.call(leases, key, token, ms) as ReturnType<LeaseStore['acquire']>;
      }) satisfies LeaseStore['acquire'],
      ...(salt && { salt }),
    });
    const guard = idempotency({ leases: store, scope: () => scope });
    const { url } = await serve(
      express().use(
        '/v1',
        Router().put('/orders/:id', guard, (_req, res) => res.json({})),
      ),
    );
    for (const key of ['k-1', 'k-2'])
      await send(`${url}/v1/orders/7?token=secret`, { method: 'PUT', headers: keyed(key) });
    return facts;
  }
  const hash = (text: string) => createHmac('sha256', 'pepper').update(text).digest('base64url');

  it('its method, its path without the query, and when it came', async () => {
    const before = Date.now();
    const [first, second] = await told(undefined);
    expect(first).toMatchObject({ method: 'PUT', path: '/v1/orders/7' });
    expect(first?.created).toBeGreaterThanOrEqual(before);
    expect(second?.created).toBeLessThanOrEqual(Date.now());
  });

  it('its key and its caller, hashed with the salt of the store, which is asked for once', async () => {
    const salt = jest.fn(() => Promise.resolve('pepper'));
    expect(await told(salt, 'ann')).toMatchObject([
      { keyHash: hash('k-1'), callerHash: hash('ann') },
      { keyHash: hash('k-2'), callerHash: hash('ann') },
    ]);
    expect(salt).toHaveBeenCalledTimes(1);
  });

  it('no caller where there is none', async () => {
    const [first] = await told(() => 'pepper');
    expect(first).toMatchObject({ keyHash: hash('k-1') });
    expect(first?.callerHash).toBeUndefined();
  });

  it('nothing while its salt is out of reach: the request gets 503', async () => {
    const leases = Object.assign(memoryLeases(), { salt: () => Promise.reject(new Error('away')) });
    const { url } = await serve(express().post('/', idempotency({ leases }), (_req, res) => res.json({})));
    expect((await send(url, { headers: keyed('k') })).status).toBe(503);
  });
});
