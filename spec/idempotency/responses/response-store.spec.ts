import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import type { RecordedResponse } from '../../../lib';
import { responsesIn } from '../../../lib/idempotency/responses/response-store';
import { keyInKeyv } from '../../../lib/idempotency/stores/keyv-like';
import { RedisServer } from '../../support/servers/redis-server';
import { Shop } from '../../support/shop';
import { SlowMap } from '../../support/slow-map';

const RESPONSE: RecordedResponse = {
  status: 201,
  reason: 'So it is',
  headers: [
    ['X-A', '1'],
    ['Set-Cookie', ['a=1', 'b=ü']],
  ],
  body: Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
  trailers: [['X-T', '2']],
};

const POST = { method: 'POST', maxBytes: 1_000 };

const keyvs: [title: string, make: () => Keyv][] = [
  ['a Map', () => new Keyv({ store: new Map() })],
  ['a Map with a namespace', () => new Keyv({ store: new Map(), namespace: 'ns' })],
  ['a store that takes its time', () => new Keyv({ store: new SlowMap() })],
  [
    'plain JSON',
    () =>
      new Keyv({
        store: new Map(),
        serialize: data => JSON.stringify(data),
        deserialize: data => JSON.parse(data as string) as never,
      }),
  ],
  [
    'no serialisation',
    () => {
      const keyv = new Keyv({ store: new Map() });
      keyv.serialize = undefined;
      keyv.deserialize = undefined;
      return keyv;
    },
  ],
];

describe.each(keyvs)('responses in a Keyv on %s', (_title, make) => {
  it('are read as they were written', async () => {
    const responses = responsesIn(make());
    await responses.write('k', 't', RESPONSE, 60_000);
    expect(await responses.read('k', 't', POST, 1_000)).toEqual(RESPONSE);
  });

  it('are kept under key and token, for their time', async () => {
    const responses = responsesIn(make());
    await responses.write('k', 't', RESPONSE, 40);
    expect(await responses.read('k', 'u', POST, 1_000)).toBeUndefined();
    while (await responses.read('k', 't', POST, 1_000)) await new Promise(setImmediate);
    await responses.write('k', 't', RESPONSE, 60_000);
    await responses.remove('k', 't');
    expect(await responses.read('k', 't', POST, 1_000)).toBeUndefined();
  });
});

describe('responses', () => {
  it('of one Keyv are one object', () => {
    const keyv = new Keyv();
    expect(responsesIn(keyv)).toBe(responsesIn(keyv));
    expect(responsesIn(keyv)).not.toBe(responsesIn(new Keyv()));
  });

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['null', null],
    ['a number', 1],
    ['another version', { version: 2, status: 200, headers: [], trailers: [], body: '' }],
    ['no status', { version: 1, headers: [], trailers: [], body: '' }],
    ['no headers', { version: 1, status: 200, trailers: [], body: '' }],
    ['no body', { version: 1, status: 200, headers: [], trailers: [] }],
  ])('that are %s are not there', async (_title, value) => {
    const keyv = new Keyv();
    await keyv.set(keyInKeyv(keyv, 'k:t'), value);
    expect(await responsesIn(keyv).read('k', 't', POST, 1_000)).toBeUndefined();
  });

  it.each(['get', 'set'] as const)('that fail to %s are an error, not a miss', async step => {
    const map = new Map<string, unknown>();
    map[step] = () => {
      throw new Error('disk full');
    };
    const responses = responsesIn(new Keyv({ store: map }));
    await expect(
      step === 'get' ? responses.read('k', 't', POST, 1_000) : responses.write('k', 't', RESPONSE, 1_000),
    ).rejects.toThrow();
  });
});

describe.each<[string, (url: string) => Keyv]>([
  ['@keyv/redis', url => new Keyv(new KeyvRedis(url))],
  ['@keyv/valkey', url => new Keyv(new KeyvValkey(url, { useRedisSets: false }))],
])('a damaged response on Redis, over %s', (_client, makeStore) => {
  let redis: RedisServer;
  let shop: Shop;
  beforeAll(async () => {
    redis = await RedisServer.start();
    shop = await Shop.open(makeStore(redis.url));
  });
  afterAll(async () => {
    await shop.close();
    await redis.stop();
  });

  it.each<[what: string, ...command: [string, ...string[]]]>([
    ['no JSON', 'SET', '{"value":'],
    ['a number', 'SET', '42'],
    ['null', 'SET', 'null'],
    ['a list in JSON', 'SET', '[]'],
    ['text in JSON', 'SET', '"x"'],
    ['no value', 'SET', '{}'],
    ['an empty value', 'SET', '{"value":null}'],
    ['a list', 'LPUSH', 'a', 'b'],
    ['a hash', 'HSET', 'a', 'b'],
  ])('that is %s gets 409 at once: the request has run', async (what, command, ...args) => {
    expect(await shop.outcome(what)).toBe('ran');
    const [key = ''] = (await redis.ask('KEYS', `*${shop.cacheKeys.get(what) ?? ''}:*`)) as string[];
    await redis.ask('DEL', key);
    await redis.ask(command, key, ...args);
    const answer = await shop.order(what);
    expect([answer.status, (JSON.parse(answer.text) as { type: string }).type]).toEqual([
      409,
      'urn:bindonce:response-unavailable',
    ]);
    expect(shop.kinds(what)).not.toContain('store-failed');
  });
});
