import express from 'express';
import { idempotency, memoryLeases } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

it("members of an application's own lease store that are not of the contract are not used", async () => {
  let opened = 0;
  const inner = memoryLeases();
  const leases = {
    isClosed: true,
    isInMemory: true,
    open: () => Promise.reject(new Error(`opened ${++opened} times`)),
    acquire: inner.acquire.bind(inner),
    renew: inner.renew.bind(inner),
    complete: inner.complete.bind(inner),
    release: inner.release.bind(inner),
  };
  const { url } = await serve(express().post('/', idempotency({ leases }), (_req, res) => void res.send('ran')));
  expect((await send(url, { headers: keyed('own members') })).text).toBe('ran');
  expect(opened).toBe(0);
});
