import express from 'express';
import { idempotency } from '../../../lib';
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
