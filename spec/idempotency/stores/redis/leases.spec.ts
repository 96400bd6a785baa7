import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../../lib';
import { anyRedis } from '../../../support/servers/redis-server';
import { Shop } from '../../../support/shop';
import { redisDeployment } from './deployment';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

redisDeployment('one Redis', () => new Keyv(new KeyvRedis(redis.url)));

it('keeps applications with different prefixes apart', async () => {
  const client = await createClient({ url: redis.url }).connect();
  const [ours, theirs] = [redisLeases(client, { prefix: 'ours:' }), redisLeases(client, { prefix: 'theirs:' })];
  const key = `key-${Date.now()}`;
  expect(await ours.acquire(key, 'a', 1_000)).toEqual({ kind: 'acquired' });
  expect(await theirs.acquire(key, 'b', 1_000)).toEqual({ kind: 'acquired' });
  client.destroy();
});

it('leaves nothing behind: leases and records run out by themselves, and not before', async () => {
  const client = await createClient({ url: redis.url }).connect();
  const leases = redisLeases(client, { prefix: 'expiring:' });
  await leases.acquire('lease', 'a', 50_000);
  await leases.acquire('renewed', 'a', 50_000);
  await leases.renew('renewed', 'a', 90_000);
  await leases.acquire('record', 'b', 50_000);
  await leases.complete('record', 'b', 90_000);
  const left = await Promise.all(['lease', 'renewed', 'record'].map(key => client.pTTL(`expiring:${key}`)));
  expect(left.map(ms => Math.ceil(ms / 30_000) * 30_000)).toEqual([60_000, 90_000, 90_000]);
  client.destroy();
});

it.each<[string, object, string]>([
  ['an unknown option', { replicas: 1 }, 'redisLeases: there is no option "replicas"; there are: prefix'],
  ['a prefix that is none', { prefix: 7 }, 'redisLeases: prefix must be text, not 7'],
])('refuses %s', (_title, options, message) => {
  expect(() => redisLeases(createClient(), options)).toThrow(new TypeError(message));
});

describe('a value that is not a Redis client is refused, and the error says what it is', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'a value of type null'],
    ['a URL, whose password it does not quote', 'redis://:secret@host', 'a value of type string'],
    ['a promise', Promise.resolve(), 'a promise: await it first'],
    ['a Keyv', new Keyv(), 'a Keyv: pass that as `store`, and leases are made from it; or pass its client'],
    ['another object', { eval: () => undefined }, 'a value of type object'],
  ])('%s', (_what, given, what) => {
    expect(() => redisLeases(given as RedisClient)).toThrow(
      new TypeError(
        `redisLeases: client must be a client of node-redis, ioredis or iovalkey, not ${what}. For example: createClient({ url }) of redis, or new Redis(url) of ioredis.`,
      ),
    );
  });
});

describe('a lease that bindonce has not written', () => {
  const foreign = ['garbage', '', 'd:a b c', 'd:purge.x', 'x:any.0'];
  const ofAnother = 'd:another.123e4567-e89b-12d3-a456-426614174000';
  it.each([
    ...foreign.map(text => ({ whenKeyReused: 'reject', text }) as const),
    ...[...foreign, ofAnother].map(text => ({ whenKeyReused: 'run', text }) as const),
  ])("gets 503, with an error that names it: '$text', with whenKeyReused '$whenKeyReused'", async options => {
    const { whenKeyReused, text } = options;
    const errors: string[] = [];
    const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)), {
      whenKeyReused,
      // Not even then, because it is known that something is there.
      whenStoreFails: 'run',
      // A machine that is busy elsewhere must not make it look like a store that is down.
      storeTimeout: 10_000,
      onEvent: ({ error }) => errors.push(String(error)),
    });
    const key = `damaged ${whenKeyReused} (${text})`;
    expect(await shop.outcome(key)).toBe('ran');
    const cacheKey = shop.cacheKeys.get(key) ?? '';
    const client = await createClient({ url: redis.url }).connect();
    const [lease = ''] = await client.keys(`*lease:${cacheKey}`);
    await client.del(lease);
    await client.set(lease, text);
    client.destroy();
    expect(await shop.outcome(key)).toBe(503);
    expect(errors.at(-1)).toContain(cacheKey);
    expect(errors.at(-1)).toContain('Another program has written to it, or it is damaged.');
    expect(shop.runs).toEqual([key]);
    await shop.close();
  });
});
