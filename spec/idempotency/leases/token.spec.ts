import crypto from 'node:crypto';
import express from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

describe('the token of a run', () => {
  it('is its own in a test suite where crypto.randomUUID() returns the same text each time', async () => {
    const uuid = jest.spyOn(crypto, 'randomUUID').mockReturnValue('11111111-1111-4111-8111-111111111111');
    try {
      let runs = 0;
      const waiting = signal();
      const onEvent = (): void => waiting.happens();
      const app = express().post('/', idempotency({ whenInFlight: 'reject', onEvent }), async (_req, res) => {
        runs++;
        await waiting.happened;
        res.send(crypto.randomUUID());
      });
      const { url } = await serve(app);
      const post = () => send(url, { headers: keyed('stubbed') });
      const [first, second] = await Promise.all([post(), post()]);
      expect([first.status, second.status].sort()).toEqual([200, 409]);
      expect(runs).toBe(1);
    } finally {
      uuid.mockRestore();
    }
  });
});
