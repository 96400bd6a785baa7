import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { guarded, seen, type Run } from '../support/guarded';
import { RedisServer } from '../support/servers/redis-server';

describe('a service that passes a request on, with its key, to one on the same Redis', () => {
  let redis: RedisServer;
  const stores: Keyv[] = [];
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.disconnect();
    await redis.stop();
  });

  /** As on one machine, or behind one gateway: no service has a host of its own. */
  function service(namespace: string, act?: Run) {
    const store = new Keyv(new KeyvRedis(redis.url), { namespace });
    stores.push(store);
    return guarded({ store, ignoreHost: true, waitTimeout: 100 }, act);
  }

  it('does not wait for itself if each has a namespace of its own', async () => {
    const charges = await service('charges');
    const orders = await service('orders', async (_req, res) => res.send(`the other: ${seen(await charges.post())}`));
    const answer = 'the other: {"run":1}';
    expect([seen(await orders.post()), seen(await orders.post())]).toEqual([answer, `${answer} again`]);
  });

  it('gets 409 from a guard that shares its namespace, its own one, for example', async () => {
    const shop = await service('shop', async (_req, res) => res.send(seen(await shop.post())));
    expect((await shop.post()).text).toMatch(/^409 .*request-in-flight/);
  });
});
