import KeyvRedis from '@keyv/redis';
import Keyv from 'keyv';
import { RedisServer } from '../../../../support/servers/redis-server';
import { leasesOn } from '../deployment';
import { Shop } from '../../../../support/shop';

const STORE_TIMEOUT = 1_000;
const LONG = 60_000;

/** Less than an empty Redis takes: whatever needs memory is refused, or evicts. */
const NO_MEMORY = '1';

describe('a Redis whose memory is full', () => {
  let redis: RedisServer;
  let shop: Shop;
  afterEach(async () => {
    await shop.close();
    await redis.stop();
  });

  async function open(): Promise<Keyv> {
    redis = await RedisServer.start('--maxmemory', '3mb', '--maxmemory-policy', 'noeviction');
    const store = new Keyv(new KeyvRedis(redis.url));
    shop = await Shop.open(store, { storeTimeout: STORE_TIMEOUT, leaseDuration: 1_000 });
    return store;
  }

  it('with `noeviction`, answers 503 and runs nothing; replays go on', async () => {
    await open();
    expect(await shop.outcome('before')).toBe('ran');
    await redis.ask('CONFIG', 'SET', 'maxmemory', NO_MEMORY);
    const asked = performance.now();
    expect(await shop.outcome('full')).toBe(503);
    expect(performance.now() - asked).toBeLessThan(STORE_TIMEOUT + 10_000);
    expect(await shop.outcome('before')).toBe('replayed');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    expect(await shop.outcome('full')).toBe('ran');
  });

  it('with `noeviction`, renews a lease but stores no response: it is sent, and replayed once there is room again', async () => {
    const leases = await leasesOn(await open());
    await leases.acquire('held', 'a', LONG);
    shop.onRun = () => redis.ask('CONFIG', 'SET', 'maxmemory', NO_MEMORY);
    expect(await shop.outcome('filled meanwhile')).toBe('ran');
    expect(shop.kinds('filled meanwhile')).toEqual(['not-stored']);
    expect(await leases.renew('held', 'a', LONG)).toBe(true);
    await expect(leases.complete('held', 'a', LONG)).rejects.toThrow('OOM');
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    shop.onRun = () => undefined;
    expect(await shop.outcomeInTheEnd('filled meanwhile')).toBe('replayed');
    expect(shop.runs).toEqual(['filled meanwhile']);
  });
});
