import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import { idempotency } from '../../../lib';
import { HookedLeases } from '../../support/hooked-leases';
import { send, type WireResponse } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

describe('a duplicate that asks for the lease while the response of the first request is being stored', () => {
  const cacheDuration = 20;

  it('runs if its question is carried out when the record of that run has expired: it leaves no lease behind', async () => {
    const [completing, mayComplete, asking, mayAsk] = [signal(), signal(), signal(), signal()];
    let acquisitions = 0;
    const leases = new HookedLeases({
      complete: () => {
        completing.happens();
        return mayComplete.happened;
      },
      acquire: () => {
        if (++acquisitions !== 2) return undefined;
        asking.happens();
        return mayAsk.happened;
      },
    });
    let runs = 0;
    const { url } = await serve(
      express().post(
        '/',
        idempotency({ leases, cacheDuration, storeTimeout: 20_000, whenInFlight: 'reject' }),
        (_req, res) => {
          res.json({ run: ++runs });
        },
      ),
    );
    const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
    const first = post();
    await completing.happened;
    const second = post();
    await asking.happened;
    mayComplete.happens();
    expect((await first).text).toBe('{"run":1}');
    await pause(2 * cacheDuration);
    mayAsk.happens();
    expect((await second).text).toBe('{"run":2}');
  });

  it('does not run if it has asked before, and is answered when the lease of that run has expired', async () => {
    const [asking, mayAsk, completing, mayComplete, released] = [signal(), signal(), signal(), signal(), signal()];
    let acquisitions = 0;
    let leaseOfRun: [key: string, token: string] | undefined;
    const leases = new HookedLeases(
      {
        acquire: (key, token) => {
          if (++acquisitions === 2) leaseOfRun = [key, token];
          if (acquisitions !== 1) return undefined;
          asking.happens();
          return mayAsk.happened;
        },
        complete: () => {
          completing.happens();
          return mayComplete.happened;
        },
      },
      {
        release: () => {
          released.happens();
        },
      },
    );
    let runs = 0;
    const { url } = await serve(
      express().post('/', idempotency({ leases, storeTimeout: 20_000 }), (_req, res) => {
        res.json({ run: ++runs });
      }),
    );
    const post = (): Promise<WireResponse> => send(url, { headers: keyed('k') });
    const early = post();
    await asking.happened;
    const other = post();
    await completing.happened;
    // The store has forgotten the lease, as if it had expired.
    expect(leases.leases.release(...(leaseOfRun as [string, string]))).toBe(true);
    mayAsk.happens();
    await released.happened;
    mayComplete.happens();
    expect([(await early).text, (await other).text, runs]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });
});

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
