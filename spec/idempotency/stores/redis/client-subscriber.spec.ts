import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases, type LeaseStore, type RedisClient } from '../../../../lib';
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
const breakSubscriptions = (): Promise<unknown> => redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');

const clients: [
  name: string,
  connect: (options?: object) => Promise<RedisClient>,
  close: (client: never) => unknown,
][] = [
  [
    'node-redis',
    async options =>
      createClient({ url: redis.url, ...options })
        .on('error', () => undefined)
        .connect(),
    (client: { destroy(): void }) => {
      client.destroy();
    },
  ],
  [
    'iovalkey',
    async options => {
      const client = new Iovalkey(redis.url, { lazyConnect: true, ...options }).on('error', () => undefined);
      await client.connect();
      return client;
    },
    (client: Iovalkey) => {
      client.disconnect();
    },
  ],
];

describe.each(clients)('notifications over %s', (name, connect, close) => {
  let client: RedisClient;
  let leases: LeaseStore;
  beforeEach(async () => {
    client = await connect();
    leases = redisLeases(client);
  });
  afterEach(async () => {
    if (!('isOpen' in client) || client.isOpen) close(client as never);
    await connections(1);
  });

  /** Watches a key, and resolves when it is told. */
  async function watch(key: string) {
    const change = signal();
    const stop = await leases.watch?.(`${name} ${key}`, () => change.happens());
    return { told: change.happened, stop: () => stop?.() };
  }

  it('use one connection, which the first waiter opens, and which closes with the client of the application', async () => {
    await connections(2);
    const waiters = await Promise.all(['a', 'b', 'a'].map(watch));
    await connections(3);
    for (const { stop } of waiters) stop();
    await subscribers(0);
    await connections(3);
    close(client as never);
    await connections(1);
  });
});

describe.each<[string, () => Keyv]>([
  ['@keyv/redis', () => new Keyv(new KeyvRedis(redis.url))],
  ['@keyv/valkey', () => new Keyv(new KeyvValkey(redis.url, { useRedisSets: false }))],
])('a duplicate on %s', (name, makeStore) => {
  it('whose subscription breaks while it waits gets the answer all the same', async () => {
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
    await breakSubscriptions();
    mayEnd.happens();
    expect(await Promise.all([original, duplicate])).toEqual(['ran', 'replayed']);
    await shop.close();
  });
});
