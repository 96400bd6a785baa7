import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import type { RedisClient } from '../../../../../lib';
import { RedisCluster } from '../../../../support/servers/redis-cluster';
import { inStep } from '../../../../support/servers/redis-replication';
import { clientOf, leasesOn, redisDeployment } from '../deployment';
import { Shop } from '../../../../support/shop';

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

    it('keeps a lease while its slot moves to another node, and follows it', async () => {
      const store = makeStore(cluster);
      const leases = await leasesOn(store);
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
      expect(await target.ask('GET', `keyv:bindonce:1::lease:${key}`)).toBe('d:0:1:a');
      await store.disconnect();
    });
  });
});

describe.each(clients)('a failover in a Redis Cluster, over %s', (_client, makeStore) => {
  let cluster: RedisCluster;
  let shop: Shop;
  const outcomes: Record<string, unknown> = {};

  beforeAll(async () => {
    cluster = await RedisCluster.start(true);
    const store = makeStore(cluster);
    shop = await Shop.open(store, { storeTimeout: STORE_TIMEOUT });
    await shop.order('replicated');
    const master = await cluster.masterOf(
      await cluster.slotOf(`keyv:bindonce:1::lease:${shop.cacheKeys.get('replicated')}`),
    );
    await inStep(master, cluster.replicaOf(master));
    await master.kill();
    const asked = performance.now();
    outcomes['during'] = await shop.outcome('replicated');
    outcomes['ms'] = performance.now() - asked;
    const { port } = cluster.replicaOf(master);
    for (const node of cluster.masters)
      if (node !== master) await node.answers(new RegExp(`:${port}@\\d+\\S* master `), 'CLUSTER', 'NODES');
    // node-redis 5 waits for the dead master, and does not look for another.
    const client = clientOf(store) as RedisClient & { destroy?(): void; connect(): Promise<unknown> };
    if (client.destroy) {
      client.destroy();
      await client.connect();
    }
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
