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

it.each<[string, unknown]>([
  ['null', null],
  ['a URL, whose password it does not quote', 'redis://:secret@host'],
  ['a promise', Promise.resolve()],
  ['a Keyv', new Keyv()],
  ['another object', { eval: () => undefined }],
])('refuses %s for a client', (_what, given) => {
  expect(() => redisLeases(given as RedisClient)).toThrow(
    new TypeError(
      'redisLeases: client must be a client of node-redis, ioredis or iovalkey, not a promise, nor a Keyv, which is ' +
        'passed as `store`. For example: createClient({ url }) of redis, or new Redis(url) of ioredis.',
    ),
  );
});
