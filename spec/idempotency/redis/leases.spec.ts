import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { redisLeases } from '../../../lib';
import { letOpen } from '../../../lib/idempotency/leases/closable-leases';
import { areJoint } from '../../../lib/idempotency/leases/joint-leases';
import { leasesFor } from '../../../lib/idempotency/options/leases-for';
import { keyInKeyv, nameOnRedis } from '../../../lib/idempotency/stores/keyv-like';
import { leaseStoreSearch } from '../../../lib/testing';
import { anyRedis } from '../../support/servers/redis-server';
import { redisDeployment } from './deployment';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

redisDeployment('one Redis', () => new Keyv(new KeyvRedis(redis.url)));

leaseStoreSearch(
  'redisLeases()',
  () => {
    const client = createClient({ url: redis.url });
    return {
      store: redisLeases(client, { prefix: 'search:' }),
      expire: key => client.pExpire(`search:${key}`, 0),
      close: () => {
        client.destroy();
      },
    };
  },
  { depth: 3, atOnce: 100 },
);

it('keeps applications with different prefixes apart', async () => {
  const client = createClient({ url: redis.url });
  const [ours, theirs] = [redisLeases(client, { prefix: 'ours:' }), redisLeases(client, { prefix: 'theirs:' })];
  const key = `key-${Date.now()}`;
  expect(await ours.acquire(key, 'a', 1_000)).toEqual({ kind: 'acquired' });
  expect(await theirs.acquire(key, 'b', 1_000)).toEqual({ kind: 'acquired' });
  client.destroy();
});

it('leaves nothing behind: leases and records run out by themselves', async () => {
  const client = createClient({ url: redis.url });
  const leases = redisLeases(client, { prefix: 'expiring:' });
  await leases.acquire('lease', 'a', 50_000);
  await leases.acquire('record', 'b', 50_000);
  await leases.complete('record', 'b', 60_000);
  expect(await client.pTTL('expiring:lease')).toBeGreaterThan(40_000);
  expect(await client.pTTL('expiring:record')).toBeGreaterThan(50_000);
  client.destroy();
});

it('completes a run together with the write of its response only if the response is there', async () => {
  const keyv = new Keyv(new KeyvRedis(redis.url));
  const leases = leasesFor(keyv);
  if (!areJoint(leases)) throw new Error('These leases cannot look for responses');
  const key = `joint-${Date.now()}`;
  await leases.acquire(key, 'a', 60_000);
  expect(await leases.completeIfStored(key, 'a', 60_000, 'response')).toBeUndefined();
  expect(await leases.acquire(key, 'b', 60_000)).toMatchObject({ kind: 'running', token: 'a' });
  const response = keyInKeyv(keyv, 'response');
  const responseKey = nameOnRedis(keyv, response) ?? '';
  await keyv.set(response, 'there', 60_000);
  expect(await leases.completeIfStored(key, 'b', 60_000, responseKey)).toBe(false);
  expect(await leases.completeIfStored(key, 'a', 60_000, responseKey)).toBe(true);
  expect(await leases.completeIfStored(key, 'a', 60_000, responseKey)).toBe(true);
  expect(await leases.acquire(key, 'b', 60_000)).toEqual({ kind: 'done', token: 'a' });
  await keyv.disconnect();
});

it.each<[string, object, string]>([
  ['an unknown option', { replica: 1 }, 'redisLeases: there is no option "replica"; did you mean "replicas"?'],
  ['a prefix that is none', { prefix: 7 }, 'redisLeases: prefix must be text, not 7'],
  [
    'a number of replicas that is none',
    { replicas: 0 },
    'redisLeases: replicas must be a whole number above zero, not 0',
  ],
  [
    'a time that is none',
    { replicaTimeout: '1s' },
    'redisLeases: replicaTimeout must be a whole number of milliseconds from 1 to 2147483647, not "1s"',
  ],
])('refuses %s', (_title, options, message) => {
  expect(() => redisLeases(createClient(), options)).toThrow(new TypeError(message));
});

it('opens a closed client when a request begins, but not for what is left of an earlier one', async () => {
  const client = createClient({ url: redis.url });
  const leases = redisLeases(client);
  expect(await leases.release('none', 'a')).toBe(false);
  client.destroy();
  for (const step of ['acquire', 'release', 'renew', 'complete'] as const)
    await expect(leases[step]('none', 'a', 1_000)).rejects.toThrow('The client is closed');
  expect(client.isOpen).toBe(false);
  letOpen(leases);
  await leases.acquire('none', 'a', 1_000);
  expect(client.isOpen).toBe(true);
  client.destroy();
});
