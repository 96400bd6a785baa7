import { setTimeout as pause } from 'node:timers/promises';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../../lib';
import { leaseStoreContract } from '../../../../lib/testing';
import { guarded } from '../../../support/guarded';
import { visible, visibleReplay } from '../../../support/replays';

/** What has to hold on a Redis, however it is deployed and whatever connects to it. `makeStore` makes a connection of its own. */
export function redisDeployment(name: string, makeStore: () => Keyv): void {
  leaseStoreContract(`redisLeases() on two connections to ${name}`, async () => {
    const stores = [makeStore(), makeStore()] as const;
    const [one, other] = [await leasesOn(stores[0]), await leasesOn(stores[1])];
    return { one, other, close: () => Promise.all(stores.map(store => store.disconnect())) };
  });
  twoApplicationsOn(name, makeStore);
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

/** What a user wants of it, over real sockets. */
export function twoApplicationsOn(name: string, makeStore: () => Keyv): void {
  it(`two applications on ${name} run one of 20 concurrent duplicates, answer all the same, and replay it on either`, async () => {
    const stores = [makeStore(), makeStore()];
    let runs = 0;
    const shops = await Promise.all(
      stores.map(store =>
        guarded({ store: store.on('error', () => undefined) }, async (_req, res) => {
          const run = ++runs;
          await pause(20);
          res.status(201).set('X-Run', String(run)).json({ run });
        }),
      ),
    );
    // Both applications are one service, which has one name.
    const orders = (count: number) =>
      Array.from({ length: count }, (_, at) => shops[at % 2]?.post({ key: name, headers: { Host: 'shop' } }));
    const answers = (await Promise.all(orders(20))).flatMap(answer => answer ?? []);
    const [original, ...others] = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
    if (!original || others.length > 0) throw new Error(`${others.length + 1} answers are none of a replay`);
    const again = (await Promise.all(orders(2))).flatMap(answer => answer ?? []);
    for (const answer of [...answers.filter(one => one !== original), ...again])
      expect(visibleReplay(answer)).toEqual(visible(original));
    expect([runs, shops.flatMap(({ log }) => log.kinds).includes('not-stored')]).toEqual([1, false]);
    await Promise.all(stores.map(store => store.disconnect()));
  });
}
