import { AsyncLocalStorage } from 'node:async_hooks';
import express from 'express';
import { idempotency } from '../../../lib';
import { SweepInterval } from '../../../lib/idempotency/stores/sweep-interval';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

describe('the sweeps of a store in memory', () => {
  it('do not take part when a test suite runs all of its fake timers', async () => {
    const { url } = await serve(express().post('/', idempotency(), (_req, res) => void res.send('done')));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    try {
      expect((await send(url, { headers: keyed('swept') })).text).toBe('done');
      expect(() => jest.runAllTimers()).not.toThrow();
    } finally {
      jest.useRealTimers();
    }
  });

  it('do not keep the AsyncLocalStorage of the request that has started them', async () => {
    const request = new AsyncLocalStorage<string>();
    const swept = signal<unknown[]>();
    const sweeping = new SweepInterval(1, () => {
      swept.happens([request.getStore()]);
      return false;
    });
    request.run('a request', () => {
      sweeping.start();
    });
    expect(await swept.happened).toEqual([undefined]);
  });
});
