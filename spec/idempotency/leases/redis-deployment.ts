import express from 'express';
import type Keyv from 'keyv';
import { idempotency, redisLeases, type RedisClient } from '../../../lib';
import { send } from '../../servers/listen';
import { serve } from '../serve';
import { keyed, visible, visibleReplay } from '../wire';
import { leaseStoreContract } from './lease-store-contract';

const DUPLICATES = 20;

/** What has to hold on a Redis, however it is deployed and whatever connects to it. `makeStore` makes a connection of its own. */
export function redisDeployment(name: string, makeStore: () => Keyv): void {
  leaseStoreContract(`redisLeases() on two connections to ${name}`, () => {
    const stores = [makeStore(), makeStore()] as const;
    return { one: leasesOf(stores[0]), other: leasesOf(stores[1]), close: () => Promise.all(stores.map(store => store.disconnect())) };
  });
  twoApplicationsOn(name, makeStore);
}

function leasesOf({ store }: Keyv): ReturnType<typeof redisLeases> {
  const { client, redis = client } = store as { client?: RedisClient; redis?: RedisClient };
  if (!redis) throw new Error('This is no store on Redis');
  return redisLeases(redis);
}

/** What a user wants of it, over real sockets. */
export function twoApplicationsOn(name: string, makeStore: () => Keyv): void {
  describe(`two applications on ${name}`, () => {
    it(`run one of ${DUPLICATES} concurrent duplicates, answer all the same, and replay it on either`, async () => {
      const stores = [makeStore(), makeStore()];
      let runs = 0;
      const urls = await Promise.all(stores.map(async store => {
        store.on('error', () => undefined);
        const app = express().post('/orders', idempotency({ store }), (_req, res) => {
          const run = ++runs;
          setTimeout(() => res.status(201).set('X-Run', String(run)).json({ run }), 20);
        });
        return `${(await serve(app)).url}/orders`;
      }));
      // Both applications are one service, which has one name.
      const order = (index: number) => send(urls[index % 2] ?? '', { headers: keyed(`order on ${name}`, { Host: 'shop' }) });
      const answers = await Promise.all(Array.from({ length: DUPLICATES }, (_, index) => order(index)));
      const [original, ...others] = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
      if (!original || others.length > 0) throw new Error(`${others.length + 1} answers are none of a replay`);
      for (const answer of [...answers.filter(one => one !== original), await order(0), await order(1)]) expect(visibleReplay(answer)).toEqual(visible(original));
      expect(runs).toBe(1);
      await Promise.all(stores.map(store => store.disconnect()));
    });
  });
}
