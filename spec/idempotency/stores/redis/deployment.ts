import { setTimeout as pause } from 'node:timers/promises';
import express from 'express';
import type KeyvRedis from '@keyv/redis';
import Keyv from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { idempotency, redisLeases, type IdempotencyOptions, type RedisClient } from '../../../../lib';
import { leaseStoreContract } from '../../../../lib/testing';
import { EventLog } from '../../../support/event-log';
import { send } from '../../../support/listen';
import { keyed, visible, visibleReplay } from '../../../support/replays';
import { serve } from '../../../support/serve';
import { Shop } from '../../../support/shop';
import { signal } from '../../../support/signal';

const DUPLICATES = 20;

/** What has to hold on a Redis, however it is deployed and whatever connects to it. `makeStore` makes a connection of its own. */
export function redisDeployment(name: string, makeStore: () => Keyv): void {
  leaseStoreContract(`redisLeases() on two connections to ${name}`, async () => {
    const stores = [makeStore(), makeStore()] as const;
    const [one, other] = [await leasesOn(stores[0]), await leasesOn(stores[1])];
    return { one, other, close: () => Promise.all(stores.map(store => store.disconnect())) };
  });
  twoApplicationsOn(name, makeStore);
  twoVersionsOn(name, makeStore);
  closingOn(name, makeStore);
}

/** The client that a store's adapter holds. */
export function clientOf({ store }: Keyv): RedisClient {
  const { client, redis = client } = store as { client?: RedisClient; redis?: RedisClient };
  if (!redis) throw new Error('This is no store on Redis');
  return redis;
}

/** Leases on the client of a store, which is open then. */
export async function leasesOn(store: Keyv): Promise<ReturnType<typeof redisLeases>> {
  await store.get('opens the client');
  return redisLeases(clientOf(store));
}

/** An update of Keyv, one process after the other, beside a cache that is cleared. */
function twoVersionsOn(name: string, makeStore: () => Keyv): void {
  /** An adapter that no Keyv has given its namespace yet. */
  const makeAdapter = () => Object.assign(makeStore().store as KeyvRedis<unknown>, { namespace: undefined });
  // All shops are one service.
  const open = (store: Keyv | Keyv6, options: IdempotencyOptions = {}) =>
    Shop.open(store, { ignoreHost: true, ...options });
  it.each([
    ['without a namespace', undefined],
    ['with a namespace', 'depot'],
  ])(`Keyv 5 and Keyv 6 on ${name} %s share all keys, and those of no cache that is cleared`, async (_, namespace) => {
    // @keyv/valkey needs a namespace; without one, it would clear those of all others.
    const isValkey = !('createKeyPrefix' in makeAdapter());
    const cache = new Keyv6(Object.assign(makeAdapter(), isValkey ? { namespace: 'cache' } : {}));
    const keyv6 = () =>
      isValkey
        ? new Keyv6(Object.assign(makeAdapter(), { namespace: namespace ?? 'keyv' }))
        : new Keyv6(makeAdapter(), { namespace });
    const inKeyv5 = namespace === undefined ? {} : { namespace };
    const [five, six, refusing, fiveAgain] = await Promise.all([
      open(new Keyv(makeAdapter(), inKeyv5)),
      open(keyv6()),
      open(keyv6(), { whenInFlight: 'reject' }),
      open(new Keyv(makeAdapter(), inKeyv5)),
    ]);
    const [first, second, running] = ['first', 'second', 'running'].map(key => `${key} ${namespace} on ${name}`) as [
      string,
      string,
      string,
    ];
    const [started, mayEnd] = [signal(), signal()];
    expect([await five.outcome(first), await six.outcome(second)]).toEqual(['ran', 'ran']);
    five.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const original = five.outcome(running);
    await started.happened;
    await cache.clear();
    expect(await refusing.outcome(running)).toBe(409);
    const duplicate = six.outcome(running);
    mayEnd.happens();
    expect([await original, await duplicate]).toEqual(['ran', 'replayed']);
    await cache.clear();
    for (const shop of [five, six, fiveAgain])
      for (const key of [first, second, running]) expect(await shop.outcome(key)).toBe('replayed');
    await Promise.all([five, six, refusing, fiveAgain, { close: () => cache.disconnect() }].map(one => one.close()));
  });
}

/** The application closes a store in order to end: whatever opened it again would keep the process alive. */
function closingOn(name: string, makeStore: () => Keyv): void {
  it(`a store on ${name} that is closed while a request runs, and a duplicate waits, stays closed`, async () => {
    const store = makeStore();
    const shop = await Shop.open(store, { storeTimeout: 300 });
    const [started, asked, mayEnd] = [signal(), signal(), signal()];
    shop.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const order = `closed on ${name}`;
    const original = shop.outcome(order);
    await started.happened;
    const client = clientOf(store);
    const given = client.eval.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.eval = async (...args: unknown[]) => {
      const answer = await given(...args);
      asked.happens();
      return answer;
    };
    const duplicate = shop.outcome(order);
    await asked.happened;
    await store.disconnect();
    expect(await duplicate).toBe(503);
    mayEnd.happens();
    expect(await original).toBe('ran');
    expect(shop.kinds(order)).toContain('not-stored');
    // Neither what is left of these requests nor a new one opens it.
    expect(await shop.outcome('new')).toBe(503);
    expect('isOpen' in client ? client.isOpen : client.status !== 'end').toBe(false);
    const closed = client as unknown as { destroy(): unknown; connect(): Promise<unknown> };
    // A Sentinel client of node-redis that was closed, but not destroyed, connects to nothing.
    if ('getSentinelNode' in client) await closed.destroy();
    await closed.connect();
    expect(await shop.outcomeInTheEnd(order)).toBe('replayed');
    expect(shop.runs).toEqual([order]);
    await shop.close();
  });
}

/** What a user wants of it, over real sockets. */
export function twoApplicationsOn(name: string, makeStore: () => Keyv): void {
  describe(`two applications on ${name}`, () => {
    it(`run one of ${DUPLICATES} concurrent duplicates, answer all the same, and replay it on either`, async () => {
      const stores = [makeStore(), makeStore()];
      let runs = 0;
      const events = new EventLog();
      const urls = await Promise.all(
        stores.map(async store => {
          store.on('error', () => undefined);
          const app = express().post('/orders', idempotency({ store, onEvent: events.onEvent }), async (_req, res) => {
            const run = ++runs;
            await pause(20);
            res.status(201).set('X-Run', String(run)).json({ run });
          });
          return `${(await serve(app)).url}/orders`;
        }),
      );
      // Both applications are one service, which has one name.
      const order = (index: number) =>
        send(urls[index % 2] ?? '', { headers: keyed(`order on ${name}`, { Host: 'shop' }) });
      const answers = await Promise.all(Array.from({ length: DUPLICATES }, (_, index) => order(index)));
      const [original, ...others] = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
      if (!original || others.length > 0) throw new Error(`${others.length + 1} answers are none of a replay`);
      for (const answer of [...answers.filter(one => one !== original), await order(0), await order(1)])
        expect(visibleReplay(answer)).toEqual(visible(original));
      expect(runs).toBe(1);
      expect(events.kinds).not.toContain('not-stored');
      await Promise.all(stores.map(store => store.disconnect()));
    });
  });
}
