import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { Silence } from '../../../lib/idempotency/redis/silence';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { Shop } from '../../support/shop';
import { signal } from '../../support/signal';

const clients: [client: string, makeStore: (port: number) => Keyv][] = [
  ['@keyv/redis', port => new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`))],
  ['@keyv/valkey', port => new Keyv(new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false }))],
];

/** Nothing in this process runs for so many milliseconds. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe.each(clients)('a connection of %s that has died, but that no one has ended', (_client, makeStore) => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let shop: Shop;
  beforeEach(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.before(redis.port);
    shop = await Shop.open(makeStore(proxy.port), { storeTimeout: 300 });
    expect(await shop.outcome('before')).toBe('ran');
  });
  afterEach(async () => {
    await shop.close();
    await proxy.close();
    await redis.stop();
  });

  it('is replaced: requests run again', async () => {
    proxy.silence();
    expect(await shop.outcome('during')).toBe(503);
    expect(await shop.outcomeInTheEnd('during')).toBe('ran');
    expect(await shop.outcome('before')).toBe('replayed');
    expect(shop.runs).toEqual(['before', 'during']);
  });

  it('is replaced while a response is to be stored, without another request', async () => {
    shop.onRun = () => {
      proxy.silence();
    };
    expect(await shop.outcome('order')).toBe('ran');
    expect(shop.kinds('order')).toContain('not-stored');
    await redis.answers(/d:[^]*d:/, 'EVAL', ALL_LEASES, '0');
    expect(await shop.outcome('order')).toBe('replayed');
    expect(shop.runs).toEqual(['before', 'order']);
  });
});

/** The texts of all leases. */
const ALL_LEASES = `local texts = {}
for _, key in ipairs(redis.call('KEYS', '*lease:*')) do texts[#texts + 1] = redis.call('GET', key) end
return texts`;

describe('silence', () => {
  it('is noticed of a server that answers nothing', async () => {
    const silent = signal();
    new Silence(() => {
      silent.happens();
    }).asked();
    await silent.happened;
  });

  it('is none where this process stood still, where a server waits on purpose, or where it answers some', async () => {
    const noticed: string[] = [];
    const watch = (what: string): Silence => new Silence(() => noticed.push(what));
    const stopped = watch('stood still');
    stopped.asked();
    void pause(7_000).then(() => {
      stopped.heard();
    });
    stall(6_500);
    watch('waits').asked(60_000);
    const answering = watch('answers');
    answering.asked();
    const answers = setInterval(() => {
      answering.asked();
      answering.heard();
    }, 500);
    const silent = signal();
    new Silence(() => {
      silent.happens();
    }).asked();
    await silent.happened;
    clearInterval(answers);
    expect(noticed).toEqual([]);
  });
});
