import { once } from 'node:events';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases } from '../../../../lib';
import { anyRedis } from '../../../support/servers/redis-server';
import { signal } from '../../../support/signal';
import { redisDeployment } from '../deployment';

// Debian 12 has no valkey-server; redis-server speaks the same protocol, and what is under test is the client.
let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

redisDeployment('Valkey', () => new Keyv(new KeyvValkey(redis.url, { useRedisSets: false })));
redisDeployment(
  'Valkey, with the set of keys that its adapter keeps by default',
  () => new Keyv(new KeyvValkey(redis.url)),
);

it.each<[string, object]>([
  ['adds a prefix to keys', { keyPrefix: 'shop:' }],
  ['keeps no commands while it is disconnected', { enableOfflineQueue: false }],
  ['connects when it is first used', { lazyConnect: true }],
  ['collects commands', { enableAutoPipelining: true }],
])('notifies waiters over a client that %s', async (_title, options) => {
  const client = new Iovalkey(redis.url, options);
  if (client.status !== 'wait') await once(client, 'ready');
  const leases = redisLeases(client);
  const key = `key ${Date.now()}`;
  const change = signal();
  await leases.acquire(key, 'a', 60_000);
  const stop = await leases.watch?.(key, () => {
    change.happens();
  });
  await leases.complete(key, 'a', 60_000);
  await change.happened;
  stop?.();
  client.disconnect();
});
