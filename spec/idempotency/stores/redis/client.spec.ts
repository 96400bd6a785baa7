import { once, type EventEmitter } from 'node:events';
import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import { createClientPool, RESP_TYPES } from '@redis/client';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { redisLeases, type RedisClient } from '../../../../lib';
import { leaseStoreContract } from '../../../../lib/testing';
import { RedisServer } from '../../../support/servers/redis-server';
import { Shop } from '../../../support/shop';
import { signal } from '../../../support/signal';
import { clientOf, redisDeployment, twoApplicationsOn } from './deployment';

let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis.stop());

// Debian 12 has no valkey-server; redis-server speaks the same protocol, and what is under test is the client.
redisDeployment('Valkey', () => new Keyv(new KeyvValkey(redis.url, { useRedisSets: false })));

const NUMBERS_AS_TEXT = { [RESP_TYPES.NUMBER]: String };
const ALL_AS_TEXT_AND_BYTES = {
  ...NUMBERS_AS_TEXT,
  [RESP_TYPES.BLOB_STRING]: Buffer,
  [RESP_TYPES.SIMPLE_STRING]: Buffer,
  [RESP_TYPES.BIG_NUMBER]: String,
};
const OF_IOVALKEY = { stringNumbers: true, enableAutoPipelining: true, keyPrefix: 'shop:', lazyConnect: true };

type Connectable = RedisClient & { connect(): Promise<unknown>; destroy?(): void; disconnect?(): unknown };

const clients: [title: string, make: () => Connectable][] = [
  [
    'node-redis that speaks RESP 3 and gives text as bytes',
    () => createClient({ url: redis.url, RESP: 3, commandOptions: { typeMapping: ALL_AS_TEXT_AND_BYTES } }),
  ],
  ['node-redis with withTypeMapping()', () => createClient({ url: redis.url }).withTypeMapping(ALL_AS_TEXT_AND_BYTES)],
  [
    'iovalkey that gives numbers as text, collects commands and adds a prefix to keys',
    () => new Iovalkey(redis.url, OF_IOVALKEY),
  ],
];

describe.each(clients)('on a client of %s', (title, make) => {
  leaseStoreContract(title, async () => {
    const both = [make(), make()] as const;
    for (const client of both) await client.connect();
    const close = (): void => {
      for (const client of both)
        if (client.destroy) client.destroy();
        else client.disconnect?.();
    };
    return { one: redisLeases(both[0]), other: redisLeases(both[1]), close };
  });
});

twoApplicationsOn(
  '@keyv/redis whose client gives numbers as text',
  () => new Keyv(new KeyvRedis({ url: redis.url, commandOptions: { typeMapping: NUMBERS_AS_TEXT } })),
);
twoApplicationsOn(
  '@keyv/valkey with the set of keys that it keeps by default, whose client gives numbers as text',
  () => new Keyv(new KeyvValkey(new Iovalkey(redis.url, { stringNumbers: true }))),
);

type Evaluate = (...args: unknown[]) => Promise<unknown>;

/** Makes a client answer each command with what it should have answered to the one before. */
function mixUp(client: RedisClient, first: Promise<unknown>): Evaluate {
  const given = client.eval.bind(client) as Evaluate;
  const earlier = [first];
  client.eval = ((...args: unknown[]) => {
    earlier.push(given(...args));
    return earlier.shift();
  }) as never;
  return given;
}

describe('an answer to another command', () => {
  it('is not a lease: each request gets 503, and nothing runs, until the client answers in order', async () => {
    const store = new Keyv(new KeyvRedis(redis.url));
    const shop = await Shop.open(store, { storeTimeout: 200 });
    expect(await shop.outcome('before')).toBe('ran');
    const client = clientOf(store);
    // As node-redis 5 does when a connection breaks between giving a command and writing it.
    const given = mixUp(client, (client.eval as Evaluate)('return 1', { keys: ['k'], arguments: [] }));
    const keys = Array.from({ length: 12 }, (_, index) => `order ${index}`);
    expect(await Promise.all(keys.map(key => shop.outcome(key)))).toEqual(keys.map(() => 503));
    expect(shop.runs).toEqual(['before']);
    client.eval = given as never;
    expect(await shop.outcomeInTheEnd('after')).toBe('ran');
    await shop.close();
  });

  it.each(['acquire', 'renew', 'complete', 'release'] as const)(
    'is an error of %s, even if the other command was one of the same token, and quotes nothing of it',
    async step => {
      const client = await createClient({ url: redis.url }).connect();
      const leases = redisLeases(client as RedisClient);
      await leases.acquire(step, 'token', 60_000);
      mixUp(client as RedisClient, Promise.resolve('secret'));
      for (let round = 1; round <= 2; round++) {
        const error = await Promise.resolve(leases[step](step, 'token', 60_000)).catch(String);
        expect(error).toMatch(/^Error: The Redis client has returned something else than the answer of a lease script/);
        expect(error).not.toContain('secret');
      }
      client.destroy();
    },
  );
});

it('a pool of node-redis holds leases, without notifications', async () => {
  const pool = createClientPool({ url: redis.url });
  await pool.connect();
  const leases = redisLeases(pool);
  expect(leases.watch).toBeUndefined();
  expect(await leases.acquire('pooled', 'a', 1_000)).toEqual({ kind: 'acquired' });
  expect(await leases.acquire('pooled', 'b', 1_000)).toMatchObject({ kind: 'running', token: 'a' });
  pool.destroy();
});

describe('a client belongs to the application:', () => {
  it('one that was not connected is an error that says so, until it is connected', async () => {
    const client = createClient({ url: redis.url });
    const leases = redisLeases(client);
    await expect(leases.acquire('mine', 'a', 1_000)).rejects.toThrow(
      'The Redis client is closed. Call connect() before the server listens',
    );
    expect(client.isOpen).toBe(false);
    await client.connect();
    expect(await leases.acquire('mine', 'a', 1_000)).toEqual({ kind: 'acquired' });
    client.destroy();
  });

  const never = { socket: { reconnectStrategy: false as const } };
  const neverEither = { useRedisSets: false, retryStrategy: () => null };
  const stores = [
    ['@keyv/redis', () => new Keyv(new KeyvRedis({ url: redis.url, ...never }))],
    ['@keyv/valkey', () => new Keyv(new KeyvValkey(redis.url, neverEither as object))],
  ] as const;
  it.each(stores.flatMap(([client, make]) => (['closed', 'lost'] as const).map(how => ({ client, make, how }))))(
    'one of $client that is $how while a request runs, and a duplicate waits, stays closed, with 503; connected again, it gets the response',
    async ({ make, how }) => {
      const store = make();
      const shop = await Shop.open(store, { storeTimeout: 300 });
      expect(await shop.outcome('before')).toBe('ran');
      const client = clientOf(store) as RedisClient & EventEmitter & { connect(): Promise<unknown> };
      const isOpen = (): boolean => ('isOpen' in client ? client.isOpen : client.status !== 'end');
      const [started, asked, mayEnd] = [signal(), signal(), signal()];
      shop.onRun = () => {
        started.happens();
        return mayEnd.happened;
      };
      const order = `${how} while it runs`;
      const original = shop.outcome(order);
      await started.happened;
      const given = client.eval.bind(client) as Evaluate;
      client.eval = (async (...args: unknown[]) => {
        const answer = await given(...args);
        asked.happens();
        return answer;
      }) as never;
      const duplicate = shop.outcome(order);
      await asked.happened;
      if (how === 'closed') await store.disconnect();
      else await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      while (isOpen()) await once(client, 'isOpen' in client ? 'error' : 'end');
      expect(await duplicate).toBe(503);
      mayEnd.happens();
      expect([await original, shop.kinds(order).includes('not-stored')]).toEqual(['ran', true]);
      // Neither what is left of these requests nor a new one opens it.
      expect([await shop.outcome('new'), isOpen()]).toEqual([503, false]);
      await client.connect();
      expect(await shop.outcomeInTheEnd(order)).toBe('replayed');
      expect(shop.runs).toEqual(['before', order]);
      await shop.close();
    },
  );
});
