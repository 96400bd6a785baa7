import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { RedisServer } from '../../../../support/servers/redis-server';
import { signal } from '../../../../support/signal';
import { Shop } from '../../../../support/shop';

const STORE_TIMEOUT = 1_000;
/** Longer than a busy machine stands still: a run that loses its lease is another story. */
const LEASE = 10_000;

/** Its client keeps commands while it is disconnected, and sends them again when it is connected: see redis-faults for @keyv/redis. */
describe('an application on @keyv/valkey whose server is away', () => {
  let redis: RedisServer;
  let shop: Shop;
  const unhandled: unknown[] = [];
  const remember = (error: unknown): void => {
    unhandled.push(error);
  };

  beforeAll(() => {
    process.on('unhandledRejection', remember);
  });
  afterAll(() => {
    process.off('unhandledRejection', remember);
  });
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    await shop.close();
    await redis.stop();
    expect(unhandled).toEqual([]);
  });

  const open = async (options: object = {}): Promise<void> => {
    shop = await Shop.open(new Keyv(new KeyvValkey(redis.url, { useRedisSets: false, ...options })), {
      storeTimeout: STORE_TIMEOUT,
      leaseDuration: LEASE,
    });
  };
  const refusedInTime = async (key: string): Promise<void> => {
    const asked = performance.now();
    expect(await shop.outcome(key)).toBe(503);
    expect(performance.now() - asked).toBeLessThan(STORE_TIMEOUT + 10_000);
    expect(shop.runs).not.toContain(key);
  };

  it('while a request runs and another waits lets the answer out, says not-stored, and refuses the other', async () => {
    await open();
    const [started, mayEnd] = [signal(), signal()];
    shop.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const original = shop.outcome('order');
    await started.happened;
    const duplicate = shop.outcome('order');
    await redis.answers(/sub=1/, 'CLIENT', 'LIST');
    await redis.kill();
    // First the duplicate: while the response of the original is being stored, it would wait for that instead.
    expect(await duplicate).toBe(503);
    mayEnd.happens();
    expect(await original).toBe('ran');
    expect(shop.kinds('order')).toContain('not-stored');
    await redis.up();
    expect(await shop.outcomeInTheEnd('order')).toBe('replayed');
    expect(shop.runs).toEqual(['order']);
  });

  it('from the start answers 503 in time, and serves when it is there', async () => {
    await redis.kill();
    await open();
    await refusedInTime('early');
    await redis.up();
    expect(await shop.outcomeInTheEnd('early')).toBe('ran');
  });

  it.each<[string, object]>([
    ['keeps commands', {}],
    ['keeps no commands', { enableOfflineQueue: false }],
    ['gives up each command at once', { maxRetriesPerRequest: 0 }],
    ['keeps commands for ever', { maxRetriesPerRequest: null }],
  ])('later on answers 503 in time, over a client that %s', async (_title, options) => {
    await open(options);
    expect(await shop.outcomeInTheEnd('before')).toBe('ran');
    await redis.kill();
    await refusedInTime('during');
    await redis.up();
    expect(await shop.outcomeInTheEnd('during')).toBe('ran');
    expect(shop.runs.filter(key => key === 'during')).toHaveLength(1);
  });
});
