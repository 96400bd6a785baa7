import { createClient } from '@keyv/redis';
import { redisLeases } from '../../../../lib';
import { leaseStoreSearch } from '../../../../lib/testing';
import { anyRedis } from '../../../support/servers/redis-server';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

leaseStoreSearch(
  'redisLeases()',
  async () => {
    const client = await createClient({ url: redis.url }).connect();
    return {
      store: redisLeases(client, { prefix: 'search:' }),
      expire: key => client.pExpire(`search:${key}`, 0),
      close: () => {
        client.destroy();
      },
    };
  },
  { depth: 4, atOnce: 100, timeout: 300_000 },
);
