import KeyvRedis from '@keyv/redis';
import express from 'express';
import { Keyv } from 'keyv';
import { Pool } from 'pg';
import { idempotency, memoryLeases, postgresStore, type IdempotencyOptions, type KeysQuery } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { PostgresServer } from '../../support/servers/postgres-server';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';

let redis: RedisServer;
let postgres: PostgresServer;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
}, 120_000);
afterEach(() => Promise.all(closing.splice(0).map(close => close())));
afterAll(() => Promise.all([redis.stop(), postgres.stop()]));

let stores = 0;
const openers: Readonly<Record<string, () => NonNullable<IdempotencyOptions['store']>>> = {
  memory: () => new Keyv({ store: new Map() }),
  Redis: () => {
    const store = new Keyv(new KeyvRedis(redis.url), { namespace: `keys-[${++stores}]*` });
    closing.push(() => store.disconnect());
    return store;
  },
  PostgreSQL: () => {
    const pool = new Pool({ connectionString: postgres.url });
    closing.push(() => pool.end());
    return postgresStore(pool, { prefix: `keys_${++stores}_` });
  },
};

describe.each(Object.keys(openers))('the keys of an idempotency() in %s', name => {
  const open = async (options: IdempotencyOptions = {}) => {
    const once = idempotency({ store: openers[name]?.(), scope: req => req.get('X-Caller'), ...options });
    const gate = { started: signal(), open: signal() };
    const cacheKeys: Record<string, string> = {};
    const app = express().post('*path', once, async (req, res) => {
      cacheKeys[req.idempotency.key] = req.idempotency.cacheKey;
      if (req.idempotency.key === 'runs') {
        gate.started.happens();
        await gate.open.happened;
      }
      res.status(201).set('X-Order', '7').json({ key: req.idempotency.key });
    });
    const { url } = await serve(app);
    const post = (key: string, path = '/orders', caller = 'ann'): Promise<WireResponse> =>
      send(url + path, { headers: keyed(key, { 'X-Caller': caller }) });
    const listed = async (query?: KeysQuery): Promise<string[]> =>
      (await once.keys.list(query)).items.map(({ state, method, path, status }) =>
        [state, method, path, status].filter(part => part !== undefined).join(' '),
      );
    return { once, post, gate, listed, cacheKeys };
  };

  it('are listed, the newest first, by state, path, key and caller', async () => {
    const { post, gate, listed } = await open();
    expect(await listed()).toEqual([]);
    await post('a', '/orders?secret=1');
    await post('b', '/orders/7/items');
    await post('a', '/ordersx', 'bob');
    const running = post('runs', '/%3Cb%3E');
    await gate.started.happened;
    const all = [
      'running POST /%3Cb%3E',
      'done POST /ordersx 201',
      'done POST /orders/7/items 201',
      'done POST /orders 201',
    ];
    expect(await listed()).toEqual(all);
    expect(await listed({ state: 'running' })).toEqual(all.slice(0, 1));
    expect(await listed({ state: 'done', path: '/orders' })).toEqual(all.slice(2));
    expect(await listed({ key: 'a' })).toEqual([all[1], all[3]]);
    expect(await listed({ key: 'a', caller: 'bob' })).toEqual([all[1]]);
    expect(await listed({ caller: 'ann' })).toEqual([all[0], all[2], all[3]]);
    expect(await listed({ key: 'of nobody' })).toEqual([]);
    gate.open.happens();
    await running;
  });

  it('are listed page by page, each once', async () => {
    const { once, post } = await open();
    const keys = Array.from({ length: 7 }, (_, at) => `k${at}`);
    for (const key of keys) await post(key, `/${key}`);
    const paths: string[] = [];
    let after: string | undefined;
    do {
      const page = await once.keys.list({ limit: 3, ...(after !== undefined && { after }) });
      paths.push(...page.items.map(({ path }) => path));
      after = page.after;
    } while (after !== undefined);
    expect(paths).toEqual(keys.map(key => `/${key}`).reverse());
  });

  it('tell of one run when it came and until when it counts, and its response if that is asked for', async () => {
    const { once, post, cacheKeys } = await open({ cacheDuration: 50_000 });
    const begun = Date.now();
    await post('a');
    const run = await once.keys.get(cacheKeys['a'] ?? '');
    expect(run).toEqual({
      cacheKey: cacheKeys['a'],
      state: 'done',
      method: 'POST',
      path: '/orders',
      status: 201,
      created: expect.closeTo(begun, -4) as number,
      ends: expect.closeTo(begun + 50_000, -4) as number,
    });
    const { response } = (await once.keys.get(cacheKeys['a'] ?? '', { response: true })) ?? {};
    expect([response?.status, response?.body.toString()]).toEqual([201, '{"key":"a"}']);
    expect(await once.keys.get('of nobody')).toBeUndefined();
  });
});

it('neither keys nor callers are in the store in clear text', async () => {
  const keyv = new Keyv(new KeyvRedis(redis.url), { namespace: 'clear' });
  closing.push(() => keyv.disconnect());
  const once = idempotency({ store: keyv, scope: () => 'caller-of-mine', addHeaderToResponse: false });
  const { url } = await serve(express().post('/', once, (_req, res) => res.json(1)));
  await send(url, { headers: keyed('order-number-1234') });
  const names = (await redis.ask('KEYS', 'clear*')) as string[];
  const values = await Promise.all(names.map(name => redis.ask('GET', name)));
  expect(names.length).toBe(3);
  expect(JSON.stringify([names, values])).not.toMatch(/order-number|caller-of-mine/);
});

it.each<[query: object, message: string]>([
  [{ state: 'over' }, 'keys.list: state must be one of running, done, unknown, not "over"'],
  [{ limit: 0 }, 'keys.list: limit must be a whole number from 1 to 1000, not 0'],
  [{ limit: 1_001 }, 'keys.list: limit must be a whole number from 1 to 1000, not 1001'],
  [{ key: 5 }, 'keys.list: key must be text, not 5'],
  [{ path: ['/a'] }, 'keys.list: path must be text, not an array of "/a"'],
])('a query of %j is a TypeError', async (query, message) => {
  await expect(idempotency().keys.list(query)).rejects.toThrow(new TypeError(message));
});

it('a lease store without list() is an error that says so', async () => {
  const { acquire, renew, complete, release } = memoryLeases();
  const leases = { acquire, renew, complete, release };
  await expect(idempotency({ store: new Keyv(), leases }).keys.list()).rejects.toThrow(
    'keys.list: the lease store has no list(). Look a run up by its cacheKey.',
  );
});
