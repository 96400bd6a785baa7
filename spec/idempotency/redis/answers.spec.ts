import KeyvRedis, { createClient } from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import { RESP_TYPES } from '@redis/client';
import express from 'express';
import Iovalkey from 'iovalkey';
import Keyv from 'keyv';
import { idempotency, redisLeases, type RedisClient } from '../../../lib';
import { leaseStoreContract } from '../../../lib/testing';
import { send } from '../../support/listen';
import { anyRedis } from '../../support/servers/redis-server';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';
import { Shop } from '../../support/shop';
import { clientOf, twoApplicationsOn } from './deployment';

let redis: Awaited<ReturnType<typeof anyRedis>>;

beforeAll(async () => {
  redis = await anyRedis();
});
afterAll(() => redis.stop());

interface Client {
  set(key: string, value: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
  lPush(key: string, value: string): Promise<unknown>;
}

const NUMBERS_AS_TEXT = { [RESP_TYPES.NUMBER]: String };
const ALL_AS_TEXT_AND_BYTES = {
  ...NUMBERS_AS_TEXT,
  [RESP_TYPES.BLOB_STRING]: Buffer,
  [RESP_TYPES.SIMPLE_STRING]: Buffer,
  [RESP_TYPES.BIG_NUMBER]: String,
};

const nodeRedis = (options: object) => () => createClient({ url: redis.url, ...options });

const clients: [title: string, make: () => { connect(): Promise<unknown> } & RedisClient][] = [
  ['node-redis that gives numbers as text', nodeRedis({ commandOptions: { typeMapping: NUMBERS_AS_TEXT } })],
  ['node-redis that gives text as bytes', nodeRedis({ commandOptions: { typeMapping: ALL_AS_TEXT_AND_BYTES } })],
  ['node-redis that speaks RESP 3', nodeRedis({ RESP: 3 })],
  [
    'node-redis that speaks RESP 3 and gives text as bytes',
    nodeRedis({ RESP: 3, commandOptions: { typeMapping: ALL_AS_TEXT_AND_BYTES } }),
  ],
  ['node-redis with withTypeMapping()', () => createClient({ url: redis.url }).withTypeMapping(ALL_AS_TEXT_AND_BYTES)],
  ['iovalkey with stringNumbers', () => new Iovalkey(redis.url, { stringNumbers: true, lazyConnect: true })],
];

function close(client: RedisClient): void {
  if ('destroy' in client) client.destroy();
  else client.disconnect();
}

describe.each(clients)('on a client of %s', (title, make) => {
  leaseStoreContract(title, async () => {
    const both = [make(), make()] as const;
    for (const client of both) await client.connect();
    const [one, other] = both.map(client => redisLeases(client as RedisClient));
    if (!one || !other) throw new Error('There are no leases');
    return {
      one,
      other,
      close: () => {
        both.forEach(close);
      },
    };
  });
});

twoApplicationsOn(
  '@keyv/redis whose client gives numbers as text',
  () => new Keyv(new KeyvRedis({ url: redis.url, commandOptions: { typeMapping: NUMBERS_AS_TEXT } })),
);
twoApplicationsOn(
  '@keyv/valkey whose client gives numbers as text',
  () => new Keyv(new KeyvValkey(new Iovalkey(redis.url, { stringNumbers: true }), { useRedisSets: false })),
);

describe('replicas', () => {
  it.each<[string, () => RedisClient]>([
    ['node-redis', () => createClient({ url: redis.url, commandOptions: { typeMapping: ALL_AS_TEXT_AND_BYTES } })],
    ['iovalkey', () => new Iovalkey(redis.url, { stringNumbers: true })],
  ])('are counted however %s gives their number', async (_title, make) => {
    const client = make();
    const leases = redisLeases(client, { replicas: 1, replicaTimeout: 10 });
    await expect(leases.acquire(`k ${Math.random()}`, 'a', 1_000)).rejects.toThrow(
      'Only 0 of 1 Redis replicas confirmed the lease within 10 ms (replicaTimeout). Check the replication, or lower `replicas`.',
    );
    close(client);
  });
});

describe('an answer that cannot be read', () => {
  it.each<[string, unknown]>([
    ['an object', {}],
    ['nothing', null],
    ['a list', ['running', 'a', 1]],
    ['other text', 'yes'],
    ['a number that is no answer', 2],
  ])('is an error that says so, and nothing runs: %s', async (_title, answer) => {
    const store = new Keyv(new KeyvRedis(redis.url));
    const client = clientOf(store) as unknown as { eval(): Promise<unknown> };
    client.eval = () => Promise.resolve(answer);
    const leases = redisLeases(client as unknown as RedisClient);
    for (const step of ['acquire', 'renew', 'complete', 'release'] as const)
      await expect(leases[step]('k', 'a', 1_000)).rejects.toThrow(
        'bindonce: cannot read the answer of Redis to a lease script',
      );
    const ran = signal();
    const { url } = await serve(
      express().post('/', idempotency({ store, storeTimeout: 60 }), (_req, res) => {
        ran.happens();
        res.end();
      }),
    );
    expect((await send(url, { headers: keyed('k') })).status).toBe(503);
    expect(await Promise.race([ran.happened.then(() => 'ran'), 'did not run'])).toBe('did not run');
    await store.disconnect();
  });
});

describe('a lease that bindonce has not written', () => {
  const foreign = ['garbage', '', 'r:', 'd:', 'd:a b c', 'd:purge.x', 'x:any.0'];
  const ofAnother = 'd:another.123e4567-e89b-12d3-a456-426614174000';
  it.each([
    ...foreign.map(text => ({ whenKeyReused: 'reject', text }) as const),
    ...[...foreign, ofAnother].map(text => ({ whenKeyReused: 'run', text }) as const),
  ])("gets 503, with an error that names it: '$text', with whenKeyReused '$whenKeyReused'", async options => {
    const { whenKeyReused, text } = options;
    const errors: string[] = [];
    const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)), {
      whenKeyReused,
      storeTimeout: 60,
      onEvent: ({ error }) => errors.push(String(error)),
    });
    const key = `damaged ${whenKeyReused} (${text})`;
    expect(await shop.outcome(key)).toBe('ran');
    const cacheKey = shop.cacheKeys.get(key) ?? '';
    const client = await createClient({ url: redis.url }).connect();
    await client.set(`keyv:bindonce:1::lease:${cacheKey}`, text);
    client.destroy();
    expect(await shop.outcome(key)).toBe(503);
    expect(errors.at(-1)).toContain(cacheKey);
    expect(errors.at(-1)).toContain('Another program has written to it, or it is damaged.');
    expect(shop.runs).toEqual([key]);
    await shop.close();
  });

  it.each([
    { what: 'text', damage: (client: Client, key: string) => client.set(key, 'garbage') },
    {
      what: 'a list',
      damage: async (client: Client, key: string) => {
        await client.del(key);
        await client.lPush(key, 'x');
      },
    },
  ])('does not run unguarded either: $what, with whenStoreFails: run', async options => {
    const { what, damage } = options;
    const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)), { whenStoreFails: 'run' });
    const key = `damaged by ${what}`;
    expect(await shop.outcome(key)).toBe('ran');
    const cacheKey = shop.cacheKeys.get(key) ?? '';
    const client = await createClient({ url: redis.url }).connect();
    await damage(client, `keyv:bindonce:1::lease:${cacheKey}`);
    client.destroy();
    expect(await shop.outcome(key)).toBe(503);
    expect(shop.runs).toEqual([key]);
    await shop.close();
  });
});
