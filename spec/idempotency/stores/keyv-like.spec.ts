import KeyvRedis, { createKeyv } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import { Keyv } from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { idempotency } from '../../../lib';
import { RedisServer } from '../../support/servers/redis-server';
import { Shop } from '../../support/shop';

describe('a Keyv of version 5 or 6', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  const onRedis = () => new KeyvRedis(redis.url);

  it.each([
    ['5 on a Map', () => new Keyv({ store: new Map() })],
    ['6 on a Map', () => new Keyv6({ store: new Map() })],
    ['5 on Redis', () => new Keyv({ store: onRedis() })],
    ['6 on Redis', () => new Keyv6({ store: onRedis() })],
    ['6 on Redis, under a namespace', () => new Keyv6({ store: onRedis(), namespace: 'shop' })],
    ['6 on Redis, under a namespace of the adapter', () => new Keyv6(new KeyvRedis(redis.url, { namespace: 'depot' }))],
  ])('keeps responses and has leases: %s', async (title, make) => {
    const shop = await Shop.open(make());
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => shop.outcome(title)));
    expect(outcomes.sort()).toEqual(['ran', ...Array.from({ length: 19 }, () => 'replayed')].sort());
    expect(await shop.outcome(title)).toBe('replayed');
    await shop.close();
  });

  it.each([
    ['one namespace', 'ran replayed', 'shop', 'shop'],
    ['two namespaces', 'ran ran', 'east', 'west'],
  ])('shares leases on one server with %s', async (title, expected, one, other) => {
    const [first, second] = (await Promise.all(
      [new Keyv6({ store: onRedis(), namespace: one }), new Keyv6(new KeyvRedis(redis.url, { namespace: other }))].map(
        store => Shop.open(store, { ignoreHost: true }),
      ),
    )) as [Shop, Shop];
    expect(`${await first.outcome(title)} ${await second.outcome(title)}`).toBe(expected);
    await Promise.all([first.close(), second.close()]);
  });

  const onValkey = () => new KeyvValkey(redis.url, { useRedisSets: false });

  it.each<[name: string, prefix: string, make: () => Parameters<typeof Shop.open>[0]]>([
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
  ])('names what it stores the same in both versions: %s, %s', async (name, prefix, make) => {
    await redis.ask('FLUSHALL');
    const shop = await Shop.open(make());
    await shop.order('a');
    const cacheKey = shop.cacheKeys.get('a') ?? '';
    expect(((await redis.ask('KEYS', '*')) as string[]).map(key => key.replace(/:[^:]*$/, ':…')).sort()).toEqual(
      [
        `${prefix}${name}:bindonce:1::response:${cacheKey}:…`,
        `${name}:bindonce:1::lease:…`,
        `${name}:bindonce:1::lease:…`,
      ].sort(),
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
          'namespace to the adapter alone: ' +
          `adapter.namespace = "${namespace}"; store = new Keyv(adapter).`,
      ),
    );
    return store.disconnect();
  });

  it('that is cleared itself loses its responses, but what has run does not run again', async () => {
    const store = new Keyv(onRedis(), { namespace: 'cleared' });
    const shop = await Shop.open(store);
    expect(await shop.outcome('cleared')).toBe('ran');
    await store.clear();
    expect(await shop.outcome('cleared')).toBe(409);
    await shop.close();
  });
});
