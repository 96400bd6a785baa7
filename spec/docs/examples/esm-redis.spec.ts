import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { listen, type WireResponse } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';
import { bearer, example, isReplay, post, SECRET } from './example';

const tea = { items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] };
/** Places an order. 503 says that nothing ran, if Redis or the shop stands still for 2 seconds, for example. */
async function placeOrder(shop: NodeProcess, authorization: string): Promise<WireResponse> {
  for (;;) {
    const answer = await post(shop, '/customers/42/orders', { key: 'one', authorization, json: tea });
    if (answer.status !== 503) return answer;
  }
}

describe('the example of an ES module with Redis', () => {
  let redis: RedisServer;
  let shops: NodeProcess[];
  const start = async (script = 'server'): Promise<NodeProcess> => {
    const env = { REDIS_URL: redis.url, JWT_SECRET: SECRET };
    const shop = await NodeProcess.start(example(`dist/esm-redis/${script}.mjs`), env);
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

  it('refuses another order with a known key', async () => {
    const shop = await start();
    const authorization = bearer({ sub: 'ann' });
    expect((await placeOrder(shop, authorization)).status).toBe(201);
    const other = { items: [...tea.items, ...tea.items] };
    expect((await post(shop, '/customers/42/orders', { key: 'one', authorization, json: other })).status).toBe(422);
  });

  it.each<['SIGTERM' | 'SIGINT', string]>([
    ['SIGTERM', ''],
    ['SIGINT', ', which npm passes on a second time'],
  ])('stores the order of a client that has left before it stops at %s%s', async stop => {
    const [begun, mayEnd] = [signal(), signal()];
    const work = await listen((_req, res) => {
      begun.happens();
      void mayEnd.happened.then(() => res.end());
    });
    const slow = example('dist/esm-redis/slow.mjs');
    const source = readFileSync(example('dist/esm-redis/server.mjs'), 'utf8');
    const handler = /\(req, res\) => \{(?=\s+const \{ customerId)/;
    writeFileSync(slow, source.replace(handler, `async $& await fetch('${work.url}');`));
    try {
      const shop = await start('slow');
      const authorization = bearer({ sub: 'ann' });
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'one', Authorization: authorization };
      const client = request(`${shop.url}/customers/42/orders`, { method: 'POST', headers, agent: false });
      client.on('error', () => undefined).end(JSON.stringify(tea));
      await begun.happened;
      client.destroy();
      shop.signal(stop);
      await refuses(shop.url);
      shop.signal(stop);
      mayEnd.happens();
      expect(await shop.ended()).toBe(0);
      expect(isReplay(await placeOrder(await start(), authorization))).toBe(true);
    } finally {
      rmSync(slow);
      await work.close();
    }
  });
});

/** Resolves when a server takes no connections any more. */
async function refuses(url: string): Promise<void> {
  while (
    await fetch(url).then(
      () => true,
      () => false,
    )
  );
}
