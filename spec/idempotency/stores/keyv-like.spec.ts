import KeyvRedis, { createKeyv } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import { Keyv } from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { idempotency } from '../../../lib';
import { guarded, seen, type Run } from '../../support/guarded';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { Shop } from '../../support/shop';
import { signal } from '../../support/signal';

describe('a Keyv of version 5 or 6', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  const onRedis = () => new KeyvRedis(redis.url);
  const onValkey = () => new KeyvValkey(redis.url, { useRedisSets: false });
  type Store = Parameters<typeof Shop.open>[0];

  it.each<[name: string, prefix: string, make: () => Store]>([
    ['keyv', 'keyv::', () => new Keyv(onRedis())],
    ['keyv', 'keyv::', () => new Keyv6(onRedis())],
    ['keyv', 'keyv::', () => createKeyv(redis.url)],
    ['shop', 'shop::', () => new Keyv(onRedis(), { namespace: 'shop' })],
    ['shop', 'shop::', () => new Keyv6(onRedis(), { namespace: 'shop' })],
    ['shop', 'shop::', () => new Keyv6(new KeyvRedis(redis.url, { namespace: 'shop' }))],
    ['shop', 'shop::', () => createKeyv(redis.url, { namespace: 'shop' })],
    ['keyv', 'namespace:keyv:', () => new Keyv(onValkey())],
    ['keyv', 'namespace:keyv:', () => new Keyv6(Object.assign(onValkey(), { namespace: 'keyv' }))],
    ['shop', 'namespace:shop:', () => new Keyv(onValkey(), { namespace: 'shop' })],
    ['shop', 'namespace:shop:', () => new Keyv6(Object.assign(onValkey(), { namespace: 'shop' }))],
  ])('names what it stores the same in both versions, and replays it: %s, %s', async (name, prefix, make) => {
    await redis.ask('FLUSHALL');
    const shop = await Shop.open(make());
    expect([await shop.outcome('a'), await shop.outcome('a')]).toEqual(['ran', 'replayed']);
    const names = ((await redis.ask('KEYS', '*')) as string[]).map(key => key.replace(/:[^:]*$/, ':…'));
    const lease = `${name}:bindonce:1::lease:…`;
    expect(names.sort()).toEqual(
      [`${prefix}${name}:bindonce:1::response:${shop.cacheKeys.get('a')}:…`, lease, lease].sort(),
    );
    await shop.close();
  });

  it.each([
    ['a Keyv without a namespace', 'keyv', () => new Keyv6(onValkey())],
    ['a Keyv with one', 'shop', () => new Keyv6(onValkey(), { namespace: 'shop' })],
    ['both', 'shop', () => new Keyv6(Object.assign(onValkey(), { namespace: 'depot' }), { namespace: 'shop' })],
  ])('on Valkey is refused where Keyv 6 names responses otherwise than Keyv 5: %s', (_title, namespace, make) => {
    const store = make();
    expect(() => idempotency({ store })).toThrow(
      new TypeError(
        'idempotency: store is a Keyv on KeyvValkey, under which Keyv 5 and 6 give responses different names. Give the ' +
          `namespace to the adapter alone: adapter.namespace = "${namespace}"; store = new Keyv(adapter).`,
      ),
    );
    return store.disconnect();
  });

  it.each<[string, open: () => Store, cache: () => Store & { clear(): Promise<unknown> }]>([
    ['@keyv/redis', () => new Keyv(onRedis()), () => new Keyv6(onRedis())],
    ['@keyv/valkey', () => new Keyv(onValkey()), () => new Keyv6(Object.assign(onValkey(), { namespace: 'cache' }))],
  ])('loses neither a lease nor a response when a cache beside it is cleared: %s', async (name, open, makeCache) => {
    const [shop, cache, started, mayEnd] = [await Shop.open(open()), makeCache(), signal(), signal()];
    const [first, running] = [`${name}, first`, `${name}, running`];
    expect(await shop.outcome(first)).toBe('ran');
    shop.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const original = shop.outcome(running);
    await started.happened;
    await cache.clear();
    const duplicate = shop.outcome(running);
    mayEnd.happens();
    expect([await original, await duplicate, await shop.outcome(first)]).toEqual(['ran', 'replayed', 'replayed']);
    expect(shop.runs).toEqual([first, running]);
    await Promise.all([shop.close(), cache.disconnect()]);
  });

  it.each([
    ['5', (url: string) => new Keyv(new KeyvRedis(url))],
    ['6', (url: string) => new Keyv6(new KeyvRedis(url), { namespace: 'counted' })],
  ])('%s waits for three answers of Redis in a first request, and for two in a replay', async (version, make) => {
    const proxy = await TcpProxy.before(redis.port);
    const shop = await Shop.open(make(`redis://127.0.0.1:${proxy.port}`));
    await shop.outcome(`${version} opens the connection`);
    const [order, before] = [`order of ${version}`, proxy.answers];
    expect([await shop.outcome(order), proxy.answers - before]).toEqual(['ran', 3]);
    expect([await shop.outcome(order), proxy.answers - before]).toEqual(['replayed', 5]);
    await shop.close();
    await proxy.close();
  });

  describe('of a service that passes a request on, with its key, to one on the same Redis', () => {
    /** As on one machine, or behind one gateway: no service has a host of its own. */
    const service = (store: Keyv, act?: Run) => guarded({ store, ignoreHost: true, waitTimeout: 100 }, act);
    const stores: Keyv[] = [];
    const named = (namespace: string): Keyv => {
      const store = new Keyv(onRedis(), { namespace });
      stores.push(store);
      return store;
    };
    afterAll(() => Promise.all(stores.map(store => store.disconnect())));

    it('does not wait for itself if each has a namespace of its own', async () => {
      const charges = await service(named('charges'));
      const orders = await service(named('orders'), async (_req, res) => res.send(seen(await charges.post())));
      expect([seen(await orders.post()), seen(await orders.post())]).toEqual(['{"run":1}', '{"run":1} again']);
    });

    it('gets 409 from a guard that shares its namespace, its own one, for example', async () => {
      const own = await service(named('own'), async (_req, res) => res.send(seen(await own.post())));
      expect((await own.post()).text).toMatch(/^409 .*request-in-flight/);
    });
  });
});
