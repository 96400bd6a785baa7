import { createClient } from '@keyv/redis';
import { redisLeases } from '../../../lib';
import { anyRedis } from '../../servers/redis-server';
import { leaseStoreContract } from './lease-store-contract';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => { redis = await anyRedis(); });
afterAll(() => redis.stop());

leaseStoreContract('redisLeases() on two connections', () => {
  const clients = [createClient({ url: redis.url }), createClient({ url: redis.url })] as const;
  const [one, other] = clients.map(client => redisLeases(client)) as [ReturnType<typeof redisLeases>, ReturnType<typeof redisLeases>];
  return { one, other, close: () => { for (const client of clients) client.destroy(); } };
});

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
