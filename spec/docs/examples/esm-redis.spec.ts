import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { bearer, example, isReplay, post, SECRET } from './example';

const tea = { items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] };
const placeOrder = (shop: NodeProcess, authorization: string) =>
  post(shop, '/customers/42/orders', { key: 'one', authorization, json: tea });

describe('the example of an ES module with Redis', () => {
  let redis: RedisServer;
  let shops: NodeProcess[];
  const start = async (): Promise<NodeProcess> => {
    const env = { REDIS_URL: redis.url, JWT_SECRET: SECRET };
    const shop = await NodeProcess.start(example('dist/esm-redis/server.mjs'), env);
    shops.push(shop);
    return shop;
  };

  beforeEach(async () => {
    shops = [];
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await Promise.all(shops.map(shop => shop.kill()));
    await redis.stop();
  });

  it('gives a retry the same order in another process, and to a refreshed token', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const order = (shop: NodeProcess, sub: string) => placeOrder(shop, bearer({ sub }));
    const first = await order(a, 'ann');
    expect(first.status).toBe(201);
    expect(JSON.parse(first.text)).toMatchObject({ customerId: 42, placedBy: 'ann', lines: 1 });
    const retry = await order(b, 'ann');
    expect([isReplay(retry), retry.text]).toEqual([true, first.text]);
    const other = await order(b, 'bob');
    expect([isReplay(other), other.status]).toEqual([false, 201]);
  });

  it('refuses a caller without a token, and stops cleanly', async () => {
    const shop = await start();
    expect((await post(shop, '/customers/42/orders', { key: 'one', json: tea })).status).toBe(401);
    expect((await placeOrder(shop, bearer({ sub: 'ann' }))).status).toBe(201);
    shop.signal('SIGTERM');
    expect(await shop.ended()).toBe(0);
  });
});
