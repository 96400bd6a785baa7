import { EventEmitter, once } from 'node:events';
import express from 'express';
import Keyv from 'keyv';
import { idempotency } from '../../../lib';
import { unstored } from '../../../lib/idempotency/store-calls/unstored';
import { EventLog } from '../../support/event-log';
import { HookedLeases } from '../../support/hooked-leases';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

const { bound } = unstored;
afterEach(() => {
  unstored.bound = bound;
});

/** Takes responses only once the spec says so. */
class SilentMap extends Map<string, unknown> {
  readonly speaks = signal();
  sets = 0;

  override set(key: string, value: unknown): this {
    this.sets++;
    return this.speaks.happened.then(() => super.set(key, value)) as unknown as this;
  }
}

/** Waits until no response waits to be stored. */
async function noneLeft(): Promise<void> {
  while (unstored.bytes !== 0) await new Promise(setImmediate);
}

async function shop({ storeTimeout = 20, leaseDuration = 30_000 } = {}) {
  const map = new SilentMap();
  const renewals = new EventEmitter();
  const log = new EventLog();
  let count = 0;
  const leases = new HookedLeases({
    renew: () => {
      count++;
      renewals.emit('renewal');
    },
  });
  let runs = 0;
  const app = express().post(
    '/',
    idempotency({
      store: new Keyv({ store: map }),
      leases,
      storeTimeout,
      leaseDuration,
      waitTimeout: 20,
      onEvent: log.onEvent,
    }),
    (_req, res) => {
      res.send(`${++runs}`.padEnd(10_000, '.'));
    },
  );
  const { url } = await serve(app);
  return {
    map,
    /** Waits until the lease was renewed so many times. */
    renewed: async (times: number) => {
      while (count < times) await once(renewals, 'renewal');
    },
    runs: () => runs,
    log,
    post: async (key: string) => (await send(url, { headers: keyed(key) })).status,
  };
}

it('a response that the store has not taken yet is not sent to it again at once', async () => {
  const storeTimeout = 1_000;
  const { map, renewed, post, runs } = await shop({ storeTimeout, leaseDuration: 300 });
  const begun = performance.now();
  expect(await post('k')).toBe(200);
  // By then, storing has been tried again.
  await renewed(13);
  const mayBeRepeated = performance.now() - begun >= 2 * storeTimeout;
  expect(map.sets).toBeLessThanOrEqual(mayBeRepeated ? 2 : 1);
  map.speaks.happens();
  while ((await post('k')) !== 200);
  expect(runs()).toBe(1);
  await noneLeft();
});

it('while too many bytes of responses wait to be stored, no handler runs; then all is as before', async () => {
  const { map, post, runs, log } = await shop();
  unstored.bound = 25_000;
  expect([await post('a'), await post('b'), await post('c'), await post('d')]).toEqual([200, 200, 200, 503]);
  expect([runs(), unstored.bytes]).toEqual([3, 33_000]);
  const { error } = await log.first('store-failed');
  expect(String(error)).toBe(
    'StoreUnavailable: New requests are refused, because 33000 bytes of responses wait to be stored, more than 25000. Check the store and its connection.',
  );
  map.speaks.happens();
  while ((await post('d')) !== 200);
  expect(runs()).toBe(4);
  await noneLeft();
});
