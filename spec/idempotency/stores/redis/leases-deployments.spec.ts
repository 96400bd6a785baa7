import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { guarded } from '../../../support/guarded';
import { RedisCluster } from '../../../support/servers/redis-cluster';
import { MASTER, SentinelDeployment } from '../../../support/servers/redis-sentinel';
import { freePort, RedisServer } from '../../../support/servers/redis-server';
import { Shop } from '../../../support/shop';
import { leasesOn, redisDeployment, twoApplicationsOn } from './deployment';

const LONG = 60_000;

describe('a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());
  const withIovalkey = () => new KeyvValkey(new Iovalkey.Cluster(cluster.addresses), { useRedisSets: false });

  describe.each<[client: string, makeStore: () => Keyv]>([
    ['@keyv/redis', () => new Keyv(new KeyvRedis({ rootNodes: cluster.addresses.map(socket => ({ socket })) }))],
    ['@keyv/valkey', () => new Keyv(withIovalkey())],
  ])('over %s', (client, makeStore) => {
    redisDeployment(`a Redis Cluster over ${client}`, makeStore);

    it('keeps a lease while its slot moves to another node, and follows it', async () => {
      const store = makeStore();
      const leases = await leasesOn(store);
      const key = `${client} moves`;
      await leases.acquire(key, 'a', LONG);
      let isMoving = true;
      const asked = (async () => {
        const seen = new Set<string>();
        while (isMoving) {
          seen.add((await leases.acquire(key, 'b', LONG)).kind);
          expect(await leases.renew(key, 'a', LONG)).toBe(true);
        }
        return [...seen];
      })();
      const target = await cluster.moveSlotOf(`keyv:bindonce:1::lease:${key}`);
      isMoving = false;
      expect(await asked).toEqual(['running']);
      expect(await leases.complete(key, 'a', LONG)).toBe(true);
      expect(await leases.acquire(key, 'b', LONG)).toEqual({ kind: 'done', token: 'a' });
      expect(await target.ask('GET', `keyv:bindonce:1::lease:${key}`)).toBe('d:0:1:a');
      await store.disconnect();
    });
  });
});

describe('Redis Sentinel', () => {
  let deployment: SentinelDeployment;
  beforeAll(async () => {
    deployment = await SentinelDeployment.start();
  });
  afterAll(() => deployment.stop());

  redisDeployment(
    'Sentinel over @keyv/redis',
    () => new Keyv(new KeyvRedis({ name: MASTER, sentinelRootNodes: deployment.addresses })),
  );
  redisDeployment(
    'Sentinel over @keyv/valkey',
    () => new Keyv(new KeyvValkey({ name: MASTER, sentinels: deployment.addresses, useRedisSets: false })),
  );
});

/** In Redis 7, a user has no channels unless they are given, and PUBLISH is refused inside a script too. */
describe('a Redis whose user has no channels', () => {
  let redis: RedisServer;
  const url = (): string => `redis://shop:secret@127.0.0.1:${redis.port}`;
  beforeAll(async () => {
    const users = ['--user', 'default', 'off', '--user', ...'shop on >secret ~* resetchannels +@all'.split(' ')];
    redis = await RedisServer.start(...users);
  });
  afterAll(() => redis.stop());
  twoApplicationsOn('@keyv/redis without channels', () => new Keyv(new KeyvRedis(url())));
  twoApplicationsOn('@keyv/valkey without channels', () => new Keyv(new KeyvValkey(url(), { useRedisSets: false })));
});

it('a server that is not there is 503, and an event with an error: its client answers nothing', async () => {
  const port = await freePort();
  const store = new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`)).on('error', () => undefined);
  const { post, log } = await guarded({ store, storeTimeout: 200 });
  expect((await post()).status).toBe(503);
  expect(String((await log.first('store-failed')).error)).toBe(
    `StoreUnavailable: acquire() of the lease store did not answer within 200 ms (storeTimeout). Check the store and its connection.`,
  );
  await store.disconnect();
});

it('a Redis whose memory is full runs nothing, with 503, and replays; a response that it does not take is sent, and replayed once there is room', async () => {
  const redis = await RedisServer.start('--maxmemory', '3mb', '--maxmemory-policy', 'noeviction');
  // Less than an empty Redis takes: whatever needs memory is refused.
  const fill = () => redis.ask('CONFIG', 'SET', 'maxmemory', '1');
  const empty = () => redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)), { storeTimeout: 1_000, leaseDuration: 1_000 });
  expect(await shop.outcome('before')).toBe('ran');
  await fill();
  expect([await shop.outcome('full'), await shop.outcome('before')]).toEqual([503, 'replayed']);
  await empty();
  expect(await shop.outcome('full')).toBe('ran');
  shop.onRun = fill;
  expect([await shop.outcome('filled meanwhile'), shop.kinds('filled meanwhile')]).toEqual(['ran', ['not-stored']]);
  await empty();
  expect(await shop.outcomeInTheEnd('filled meanwhile')).toBe('replayed');
  expect(shop.runs).toEqual(['before', 'full', 'filled meanwhile']);
  await shop.close();
  await redis.stop();
});
