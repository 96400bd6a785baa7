import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { listen, type WireResponse } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';
import { bearer, example, isReplay, post, SECRET } from './example';

const path = '/customers/42/orders';
const tea = { items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] };

describe('the example of an ES module with Redis', () => {
  let redis: RedisServer;
  let shops: NodeProcess[];
  const start = async (script = 'server'): Promise<NodeProcess> => {
    const env = { REDIS_URL: redis.url, JWT_SECRET: SECRET };
    const shop = await NodeProcess.start(example(`dist/esm-redis/${script}.mjs`), env);
    shops.push(shop);
    return shop;
  };
  /** 503 says that nothing ran, if Redis or the shop stands still for 2 seconds, for example. */
  const order = async (shop: NodeProcess, sub = 'ann', json: object = tea): Promise<WireResponse> => {
    for (;;) {
      const answer = await post(shop, path, { key: 'one', authorization: bearer({ sub }), json });
      if (answer.status !== 503) return answer;
    }
  };

  beforeEach(async () => {
    shops = [];
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await Promise.all(shops.map(shop => shop.kill()));
    await redis.stop();
  });

  it('gives a retry the same order in another process, and to a refreshed token; refuses another order, and no token', async () => {
    const [a, b] = await Promise.all([start(), start()]);
    const first = await order(a);
    expect([first.status, JSON.parse(first.text)]).toMatchObject([201, { customerId: 42, placedBy: 'ann', lines: 1 }]);
    const retry = await order(b);
    expect([isReplay(retry), retry.text]).toEqual([true, first.text]);
    const other = await order(b, 'bob');
    expect([isReplay(other), other.status]).toEqual([false, 201]);
    expect((await order(b, 'ann', { items: [...tea.items, ...tea.items] })).status).toBe(422);
    expect((await post(a, path, { key: 'one', json: tea })).status).toBe(401);
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
      const headers = {
        'Content-Type': 'application/json',
        'Idempotency-Key': 'one',
        Authorization: bearer({ sub: 'ann' }),
      };
      const client = request(`${shop.url}${path}`, { method: 'POST', headers, agent: false });
      client.on('error', () => undefined).end(JSON.stringify(tea));
      await begun.happened;
      client.destroy();
      shop.signal(stop);
      const isOpen = (): Promise<boolean> =>
        fetch(shop.url).then(
          () => true,
          () => false,
        );
      while (await isOpen());
      shop.signal(stop);
      mayEnd.happens();
      expect(await shop.ended()).toBe(0);
      expect(isReplay(await order(await start()))).toBe(true);
    } finally {
      rmSync(slow);
      await work.close();
    }
  });
});
