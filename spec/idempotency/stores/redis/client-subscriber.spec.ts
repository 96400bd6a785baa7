import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../../lib';
import { RedisServer } from '../../../support/servers/redis-server';
import { Shop } from '../../../support/shop';
import { signal } from '../../../support/signal';

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());

/** Waits until so many connections have subscriptions. */
const subscribers = (count: number): Promise<void> =>
  redis.answers(new RegExp(`^(?:[^]*?\\bsub=[1-9]){${count}}(?![^]*\\bsub=[1-9])`), 'CLIENT', 'LIST');
/** Waits until there are so many connections, the one that asks included. */
const connections = (count: number): Promise<void> =>
  redis.answers(new RegExp(`^(?:[^\\n]*\\n){${count}}$`), 'CLIENT', 'LIST');

it.each<
  [name: string, connect: () => RedisClient & { connect(): Promise<unknown> }, close: (client: never) => unknown]
>([
  ['node-redis', () => createClient({ url: redis.url }), (client: { destroy(): void }) => client.destroy()],
  ['iovalkey', () => new Iovalkey(redis.url, { lazyConnect: true }), (client: Iovalkey) => client.disconnect()],
])(
  'notifications over %s use one connection, which the first waiter opens, and which closes with the client of the application',
  async (_name, make, close) => {
    const client = make();
    await client.connect();
    const leases = redisLeases(client);
    await connections(2);
    const stops = await Promise.all(['a', 'b', 'a'].map(key => leases.watch?.(key, () => undefined)));
    await connections(3);
    for (const stop of stops) void stop?.();
    await subscribers(0);
    await connections(3);
    close(client as never);
    await connections(1);
  },
);

it.each<[string, () => Keyv]>([
  ['@keyv/redis', () => new Keyv(new KeyvRedis(redis.url))],
  ['@keyv/valkey', () => new Keyv(new KeyvValkey(redis.url, { useRedisSets: false }))],
])(
  'a duplicate on %s whose subscription breaks while it waits gets the answer all the same',
  async (name, makeStore) => {
    const shop = await Shop.open(makeStore());
    const [started, mayEnd] = [signal(), signal()];
    shop.onRun = () => {
      started.happens();
      return mayEnd.happened;
    };
    const original = shop.outcome(name);
    await started.happened;
    const duplicate = shop.outcome(name);
    await subscribers(1);
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
    mayEnd.happens();
    expect(await Promise.all([original, duplicate])).toEqual(['ran', 'replayed']);
    await shop.close();
  },
);
