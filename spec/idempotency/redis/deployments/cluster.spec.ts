import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases } from '../../../../lib';
import { RedisCluster } from '../../../support/servers/redis-cluster';
import { inStep } from '../../../support/servers/redis-replication';
import { clientOf, redisDeployment } from '../deployment';
import { Shop } from '../../../support/shop';

const LONG = 60_000;
const STORE_TIMEOUT = 500;

const clients: [client: string, makeStore: (cluster: RedisCluster) => Keyv][] = [
  ['@keyv/redis', ({ addresses }) => new Keyv(new KeyvRedis({ rootNodes: addresses.map(socket => ({ socket })) }))],
  [
    '@keyv/valkey',
    ({ addresses }) => new Keyv(new KeyvValkey(new Iovalkey.Cluster(addresses), { useRedisSets: false })),
  ],
];

describe('a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());

  describe.each(clients)('over %s', (client, makeStore) => {
    redisDeployment(`a Redis Cluster over ${client}`, () => makeStore(cluster));

    it('notifies the waiters of a key on any node', async () => {
      const stores = [makeStore(cluster), makeStore(cluster)] as const;
      const [one, other] = [redisLeases(clientOf(stores[0])), redisLeases(clientOf(stores[1]))];
      const keys = Array.from({ length: 12 }, (_, index) => `${client} ${index}`);
      const nodes = await Promise.all(
        keys.map(async key => cluster.masterOf(await cluster.slotOf(`keyv:bindonce:1::lease:${key}`))),
      );
      expect(new Set(nodes).size).toBe(3);
      const notified = new Set<string>();
      const stops = await Promise.all(
        keys.map(key =>
          one.watch?.(key, () => {
            notified.add(key);
          }),
        ),
      );
      for (const key of keys) await other.complete(key, 'a', LONG);
      while (notified.size < keys.length) await pause(5);
      for (const stop of stops) stop?.();
      await Promise.all(stores.map(store => store.disconnect()));
    });

    it('keeps no subscription that could not be made in time', async () => {
      const store = makeStore(cluster);
      const leases = redisLeases(clientOf(store));
      const keys = ['x', 'y', 'z'].map(key => `${client} ${key} in vain`);
      await leases.release(client, 'nobody');
      const admins = await Promise.all(cluster.masters.map(({ url }) => createClient({ url }).connect()));
      const letIn = (clients: number): Promise<unknown> =>
        Promise.all(admins.map(admin => admin.configSet('maxclients', String(clients))));
      await letIn(1);
      const watching = await Promise.allSettled(keys.map(key => leases.watch?.(key, () => undefined)));
      await letIn(1_000);
      expect(watching.map(({ status }) => status)).toEqual(keys.map(() => 'rejected'));
      const stop = await leases.watch?.(`${client} later`, () => undefined);
      stop?.();
      for (const master of cluster.masters) await master.answers(/^$/, 'PUBSUB', 'CHANNELS');
      for (const admin of admins) admin.destroy();
      await store.disconnect();
    });

    it('keeps a lease while its slot moves to another node, and follows it', async () => {
      const store = makeStore(cluster);
      const leases = redisLeases(clientOf(store));
      const key = `${client} moves`;
      const slot = await cluster.slotOf(`keyv:bindonce:1::lease:${key}`);
      await leases.acquire(key, 'a', LONG);
      const source = await cluster.masterOf(slot);
      const target = cluster.masters.find(master => master !== source);
      if (!target) throw new Error('There is no other master');
      let isMoving = true;
      const asked = (async () => {
        const seen = new Set<string>();
        while (isMoving) {
          seen.add((await leases.acquire(key, 'b', LONG)).kind);
          expect(await leases.renew(key, 'a', LONG)).toBe(true);
        }
        return [...seen];
      })();
      await cluster.moveSlot(slot, source, target);
      isMoving = false;
      expect(await asked).toEqual(['running']);
      expect(await leases.complete(key, 'a', LONG)).toBe(true);
      expect(await leases.acquire(key, 'b', LONG)).toEqual({ kind: 'done', token: 'a' });
      expect(await target.ask('GET', `keyv:bindonce:1::lease:${key}`)).toBe('d:a');
      await store.disconnect();
    });
  });

  it.each(clients)('over %s is refused where replicas are to be waited for', async (_client, makeStore) => {
    const store = makeStore(cluster);
    expect(() => redisLeases(clientOf(store), { replicas: 1 })).toThrow(
      new TypeError(
        'redisLeases: `replicas` is not supported on a Cluster. Leave it out, or use a single address or Sentinel.',
      ),
    );
    await store.disconnect();
  });
});

describe.each(clients)('a failover in a Redis Cluster, over %s', (_client, makeStore) => {
  let cluster: RedisCluster;
  let shop: Shop;
  const outcomes: Record<string, unknown> = {};

  beforeAll(async () => {
    cluster = await RedisCluster.start(true);
    shop = await Shop.open(makeStore(cluster), { storeTimeout: STORE_TIMEOUT });
    await shop.order('replicated');
    const master = await cluster.masterOf(
      await cluster.slotOf(`keyv:bindonce:1::lease:${shop.cacheKeys.get('replicated')}`),
    );
    await inStep(master, cluster.replicaOf(master));
    await master.kill();
    const asked = performance.now();
    outcomes['during'] = await shop.outcome('replicated');
    outcomes['ms'] = performance.now() - asked;
    outcomes['after'] = await shop.outcomeInTheEnd('replicated');
  });
  afterAll(async () => {
    await shop.close();
    await cluster.stop();
  });

  it('answers 503 while the slot has no master, within storeTimeout', () => {
    expect(outcomes).toMatchObject({ during: 503 });
    expect(outcomes['ms']).toBeLessThan(STORE_TIMEOUT + 10_000);
  });

  it('is followed, and replays what the new master had', () => {
    expect(outcomes).toMatchObject({ after: 'replayed' });
    expect(shop.runs).toEqual(['replicated']);
  });

  it('goes on on every slot', async () => {
    for (let index = 0; index < 12; index++) expect(await shop.outcome(`slot ${index}`)).toBe('ran');
  });
});
