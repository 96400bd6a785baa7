import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import type { RecordedResponse } from '../../../lib';
import { Silence } from '../../../lib/idempotency/redis/silence';
import { responsesIn, type Responses } from '../../../lib/idempotency/responses/response-store';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { Shop } from '../../support/shop';
import { signal } from '../../support/signal';
import { standStill } from '../../support/stand-still';

const clients: [client: string, makeStore: (port: number) => Keyv][] = [
  ['@keyv/redis', port => new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`))],
  ['@keyv/valkey', port => new Keyv(new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false }))],
];
const impatient = (port: number): Keyv =>
  new Keyv(new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false, commandTimeout: 200 }));

/** The texts of all leases. */
const ALL_LEASES = `local texts = {}
for _, key in ipairs(redis.call('KEYS', '*lease:*')) do texts[#texts + 1] = redis.call('GET', key) end
return texts`;

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

describe('a connection that has died, of a client that soon stops to wait for answers,', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let shop: Shop;
  beforeEach(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.before(redis.port);
    shop = await Shop.open(impatient(proxy.port), { storeTimeout: 300 });
  });
  afterEach(async () => {
    await shop.close();
    await proxy.close();
    await redis.stop();
  });

  it('is replaced while a response is to be stored, without another request', async () => {
    shop.onRun = () => {
      proxy.silence();
    };
    expect(await shop.outcome('order')).toBe('ran');
    expect(shop.kinds('order')).toContain('not-stored');
    await redis.answers(/d:/, 'EVAL', ALL_LEASES, '0');
    expect(await shop.outcome('order')).toBe('replayed');
  });
});

/** Takes seven seconds at 200 kB/s: 1.4 MB of text. */
const LONG: RecordedResponse = { status: 200, headers: [], body: Buffer.alloc(1_050_000, 'x'), trailers: [] };

describe('a slow connection', () => {
  let redis: RedisServer;
  let slow: { responses: Responses; store: Keyv; proxy: TcpProxy }[];
  beforeEach(async () => {
    redis = await RedisServer.start();
    slow = [];
    for (const [client, makeStore] of clients) {
      const proxy = await TcpProxy.before(redis.port);
      const store = makeStore(proxy.port).on('error', () => undefined);
      slow.push({ responses: responsesIn(store), store, proxy });
      await responsesIn(store).write('read', client, LONG, 60_000);
      proxy.slowDown(200_000);
    }
  });
  afterEach(async () => {
    for (const { store, proxy } of slow) {
      await store.disconnect();
      await proxy.close();
    }
    await redis.stop();
  });

  it('is not replaced while a long response is written', async () => {
    const outcomes = slow.map(({ responses, proxy }) =>
      Promise.race([responses.write('written', 't', LONG, 60_000), proxy.connected()]),
    );
    await Promise.all(outcomes);
    expect(slow.map(({ proxy }) => proxy.connections)).toEqual([1, 1]);
  });

  it('is not replaced while a long response is read', async () => {
    const outcomes = slow.map(({ responses, proxy }, index) =>
      Promise.race([
        responses.read('read', clients[index]?.[0] ?? '', { method: 'GET', maxBytes: 10_485_760 }, 1_000),
        proxy.connected(),
      ]),
    );
    const bytes = (await Promise.all(outcomes)).map(response => response?.body.length);
    expect(bytes).toEqual([LONG.body.length, LONG.body.length]);
    expect(slow.map(({ proxy }) => proxy.connections)).toEqual([1, 1]);
  });
});

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
    const asked = stopped.asked();
    void pause(7_000).then(() => {
      stopped.heard(asked);
    });
    standStill(6_500);
    watch('waits').asked(60_000);
    const answering = watch('answers');
    answering.asked();
    const answers = setInterval(() => {
      answering.heard(answering.asked());
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

describe('silence, in the course of time,', () => {
  let noticed = 0;
  let silence: Silence;
  beforeEach(() => {
    jest.useFakeTimers();
    noticed = 0;
    silence = new Silence(() => {
      noticed++;
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is noticed although the client soon stops to wait, however seldom the server is asked', () => {
    for (let question = 1; question <= 5; question++) {
      expect(noticed).toBe(0);
      const asked = silence.asked();
      jest.advanceTimersByTime(300);
      silence.failed(asked);
      jest.advanceTimersByTime(30_000);
    }
    expect(noticed).toBe(1);
  });

  it('is not noticed where the client stops to wait, and the server answers later questions', () => {
    for (let question = 1; question <= 50; question++) {
      const [late, soon] = [silence.asked(), silence.asked()];
      jest.advanceTimersByTime(300);
      silence.failed(late);
      silence.heard(soon);
      jest.advanceTimersByTime(700);
    }
    expect(noticed).toBe(0);
  });

  it('is none where questions fail at once: the client is not connected', () => {
    for (let question = 1; question <= 50; question++) {
      silence.failed(silence.asked());
      jest.advanceTimersByTime(500);
    }
    expect(noticed).toBe(0);
  });

  it('is patient for the longest open question, and no longer for one that is answered', () => {
    const long = silence.asked(60_000);
    silence.asked(10_000);
    silence.asked(10_000);
    silence.heard(long, 60_000);
    jest.advanceTimersByTime(14_500);
    expect(noticed).toBe(0);
    jest.advanceTimersByTime(1_000);
    expect(noticed).toBe(1);
  });

  it('begins anew when it was noticed: questions of before change nothing', () => {
    const before = silence.asked(10_000);
    jest.advanceTimersByTime(16_000);
    expect(noticed).toBe(1);
    silence.asked();
    silence.failed(before, 10_000);
    jest.advanceTimersByTime(4_500);
    expect(noticed).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(noticed).toBe(2);
  });
});

it('a connection is replaced outside of the request that has noticed that it is silent', async () => {
  const request = new AsyncLocalStorage<string>();
  const silent = signal<unknown[]>();
  const silence = new Silence(() => {
    silent.happens([request.getStore()]);
  });
  request.run('a request', () => {
    silence.asked();
  });
  expect(await silent.happened).toEqual([undefined]);
});
