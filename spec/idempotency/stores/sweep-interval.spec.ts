import express from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

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
});
