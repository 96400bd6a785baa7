import { EventEmitter, once } from 'node:events';
import express from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { HookedLeases, type Hooks } from '../../support/hooked-leases';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** Takes responses only once the spec says so. */
class SilentMap extends Map<string, unknown> {
  readonly speaks = signal();
  readonly offers = new EventEmitter();
  sets = 0;

  override set(key: string, value: unknown): this {
    this.sets++;
    this.offers.emit('offer');
    return this.speaks.happened.then(() => super.set(key, value)) as unknown as this;
  }

  async offered(times: number): Promise<void> {
    while (this.sets < times) await once(this.offers, 'offer');
  }
}

/** A shop whose store of responses is silent. */
async function shop(options: IdempotencyOptions = {}, bytes = 10, before: Hooks = {}, after: Hooks = {}) {
  const map = new SilentMap();
  const log = new EventLog();
  const body = Buffer.alloc(bytes, '.');
  let runs = 0;
  const guard = idempotency({
    store: new Keyv({ store: map }),
    leases: new HookedLeases(before, after),
    storeTimeout: 20,
    leaseDuration: 30_000,
    waitTimeout: 20,
    onEvent: log.onEvent,
    ...options,
  });
  const app = express().post('/', guard, (_req, res) => {
    runs++;
    res.send(body);
  });
  const { url } = await serve(app);
  const post = async (key: string): Promise<number> => (await send(url, { headers: keyed(key) })).status;
  return {
    map,
    log,
    runs: () => runs,
    post,
    /** Lets the store take what waits, and sends until this is so. */
    async speak(key: string): Promise<void> {
      map.speaks.happens();
      while ((await post(key)) !== 200);
    },
  };
}

describe('a response that is stored in the background', () => {
  it('is offered to a silent store once a second at most', async () => {
    const { map, post, runs, speak } = await shop();
    const begun = performance.now();
    expect(await post('k')).toBe(200);
    await map.offered(3);
    expect(performance.now() - begun).toBeGreaterThan(1_990);
    await speak('k');
    expect(runs()).toBe(1);
  });

  it('is given up when cacheDuration is over: the next request runs', async () => {
    const { post, runs } = await shop({ cacheDuration: 300, leaseDuration: 300 });
    expect(await post('k')).toBe(200);
    expect(await post('k')).toBe(409);
    while (runs() === 1) await post('k');
    expect(runs()).toBe(2);
  });
});

describe('while too many responses wait to be stored, no handler runs; then all is as before:', () => {
  it.each([
    ['a thousand of them', 1_000, 10],
    ['64 MiB', 14, 5_000_000],
  ])('%s', async (_title, count, bytes) => {
    const { post, runs, log, speak } = await shop({}, bytes);
    const keys = Array.from({ length: count }, (_, index) => `k${index}`);
    for (let from = 0; from < count; from += 50) await Promise.all(keys.slice(from, from + 50).map(post));
    expect([await post('next'), runs()]).toEqual([503, count]);
    const { error } = await log.first('store-failed');
    expect(String(error)).toBe(
      `StoreUnavailable: New requests are refused, because ${count} responses wait to be stored. Check the store and its connection.`,
    );
    await speak('next');
    expect(runs()).toBe(count + 1);
    for (let from = 0; from < count; from += 50) await Promise.all(keys.slice(from, from + 50).map(speak));
    expect(runs()).toBe(count + 1);
  });
});
