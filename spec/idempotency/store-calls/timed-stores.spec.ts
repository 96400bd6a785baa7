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
      express().post('/', idempotency({ leases, cacheDuration, whenInFlight: 'reject' }), (_req, res) => {
        res.json({ run: ++runs });
      }),
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
});
