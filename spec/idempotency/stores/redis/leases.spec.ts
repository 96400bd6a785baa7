import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../../lib';
import { anyRedis } from '../../../support/servers/redis-server';
import { redisDeployment } from './deployment';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

redisDeployment('one Redis', () => new Keyv(new KeyvRedis(redis.url)));

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
