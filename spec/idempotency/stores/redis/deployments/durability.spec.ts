import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { RedisServer } from '../../../../support/servers/redis-server';
import { leasesOn } from '../deployment';
import { Shop } from '../../../../support/shop';

const STORE_TIMEOUT = 1_000;
const LONG = 60_000;

describe('a Redis that is killed and started again', () => {
  // What the machine had not yet written to its disk is lost only when the machine fails too; a process cannot show that.
  it.each<[outcome: string, appendOnly: string, settings: string[]]>([
    ['replayed', '`appendfsync always`', ['--appendonly', 'yes', '--appendfsync', 'always']],
    ['ran', 'no append-only file', []],
  ])('%s again: what was completed before, with %s', async (outcome, _appendOnly, settings) => {
    expect(await afterKill(settings)).toBe(outcome);
  });

  it('replayed again: what was completed and written before, with `appendfsync everysec`', async () => {
    // While its last write is still on the way to the disk, Redis holds the next one back, for two seconds at most.
    const written = (redis: RedisServer): Promise<void> =>
      redis.answers(/aof_buffer_length:0\b/, 'INFO', 'persistence');
    expect(await afterKill(['--appendonly', 'yes', '--appendfsync', 'everysec'], written)).toBe('replayed');
  });
});

/** Kills a Redis after a response was stored. @returns what becomes of the duplicate when it is up again. */
async function afterKill(settings: string[], before?: (redis: RedisServer) => Promise<void>): Promise<unknown> {
  const redis = await RedisServer.start(...settings);
  const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)));
  expect(await shop.outcome('before')).toBe('ran');
  await before?.(redis);
  await redis.kill();
  await redis.up();
  const outcome = await shop.outcomeInTheEnd('before');
  await shop.close();
  await redis.stop();
  return outcome;
}

/** Less than an empty Redis takes: whatever needs memory is refused, or evicts. */
const NO_MEMORY = '1';

/** Writes keys that run out, as sessions and caches do, twenty times as many as fit: which ones give way is chance. */
async function crowd(redis: RedisServer): Promise<void> {
  const value = 'x'.repeat(10_000);
  const client = await createClient({ url: redis.url }).connect();
  for (let index = 0; index < 4_000; index += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, offset) => client.set(`session ${index + offset}`, value, { PX: LONG })),
    );
  }
  client.destroy();
}

describe('a Redis whose memory is full', () => {
  let redis: RedisServer;
  let shop: Shop;
  afterEach(async () => {
    await shop.close();
    await redis.stop();
  });

  async function open(policy: string): Promise<Keyv> {
    redis = await RedisServer.start('--maxmemory', '3mb', '--maxmemory-policy', policy);
    const store = new Keyv(new KeyvRedis(redis.url));
    shop = await Shop.open(store, { storeTimeout: STORE_TIMEOUT, leaseDuration: 1_000 });
    return store;
  }

  it('with `noeviction`, answers 503 and runs nothing; replays go on', async () => {
    await open('noeviction');
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
    const leases = await leasesOn(await open('noeviction'));
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

  it.each(['volatile-lru', 'allkeys-lru'])('with `%s`, forgets, and runs again', async policy => {
    await open(policy);
    expect(await shop.outcome('before')).toBe('ran');
    await crowd(redis);
    expect(await shop.outcome('before')).toBe('ran');
    expect(shop.runs).toEqual(['before', 'before']);
  });
});
