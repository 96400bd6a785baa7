import { once, type EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import type { IoredisClient } from '../../../../lib/idempotency/redis/ioredis-client';
import { RedisServer } from '../../../support/servers/redis-server';
import { signal } from '../../../support/signal';
import { Shop } from '../../../support/shop';
import { clientOf } from '../deployment';

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
    mayEnd.happens();
    expect(await Promise.all([original, duplicate])).toEqual(['ran', 503]);
    expect(shop.kinds('order')).toContain('not-stored');
    await redis.up();
    expect(await shop.outcomeInTheEnd('order')).toBe('replayed');
    expect(shop.runs).toEqual(['order']);
  });

  it('while a request runs, and whose client gives up, stores the response when the server is back', async () => {
    const store = new Keyv(new KeyvValkey(redis.url, { useRedisSets: false, retryStrategy: () => null } as object));
    const client = clientOf(store) as IoredisClient;
    shop = await Shop.open(store, { storeTimeout: STORE_TIMEOUT, leaseDuration: LEASE });
    shop.onRun = async () => {
      await redis.kill();
      while (client.status !== 'end') await once(client as unknown as EventEmitter, 'end');
    };
    expect(await shop.outcome('order')).toBe('ran');
    expect(shop.kinds('order')).toContain('not-stored');
    expect(await shop.outcome('during')).toBe(503);
    await redis.up();
    // Without another request.
    while (((await redis.ask('KEYS', '*')) as string[]).length < 2) await pause(20);
    shop.onRun = () => undefined;
    expect(await shop.outcomeInTheEnd('order')).toBe('replayed');
    expect(await shop.outcome('after')).toBe('ran');
    expect(shop.runs).toEqual(['order', 'after']);
  });

  it.each<[string, (client: Iovalkey) => unknown]>([
    ['disconnect()', client => client.disconnect()],
    ['quit()', client => client.quit()],
  ])('but whose client the application has closed by %s, does not open it again', async (_title, close) => {
    const client = new Iovalkey(redis.url, { retryStrategy: () => null });
    shop = await Shop.open(new Keyv(new KeyvValkey(client, { useRedisSets: false })), { storeTimeout: 300 });
    expect(await shop.outcome('before')).toBe('ran');
    const ended = once(client, 'end');
    await close(client);
    await ended;
    expect(await shop.outcome('after')).toBe(503);
    expect(client.status).toBe('end');
    await client.connect();
    expect(await shop.outcome('after')).toBe('ran');
    await redis.kill();
    await redis.up();
    expect(await shop.outcomeInTheEnd('again')).toBe('ran');
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

  it('while it hangs answers 503 in time, and a call that it carries out late blocks no request', async () => {
    await open();
    expect(await shop.outcomeInTheEnd('before')).toBe('ran');
    redis.pause();
    await refusedInTime('hanging');
    redis.resume();
    expect(await shop.outcomeInTheEnd('hanging')).toBe('ran');
  });
});
