import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import { idempotency, memoryLeases, type IdempotencyOptions, type KeysQuery } from '../../../lib';
import { guarded } from '../../support/guarded';
import { RedisServer } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';

// That each store lists its runs, page by page, is in its contract.
describe('the keys of an idempotency()', () => {
  const open = async (options: IdempotencyOptions = {}) => {
    const gate = { started: signal(), open: signal() };
    let cacheKey = '';
    const store = new Keyv({ store: new Map() });
    const { guard, post } = await guarded(
      { store, scope: req => req.get('X-Caller'), ...options },
      async (req, res) => {
        const { key } = req.idempotency;
        ({ cacheKey } = req.idempotency);
        if (key === 'runs') {
          gate.started.happens();
          await gate.open.happened;
        }
        res.status(201).json({ order: 7 });
      },
    );
    const order = (key: string, path = '/orders', caller = 'ann') =>
      post({ key, path, headers: { 'X-Caller': caller } });
    const listed = async (query?: KeysQuery): Promise<string[]> =>
      (await guard.keys.list(query)).items.map(({ state, method, path, status }) =>
        [state, method, path, status].filter(part => part !== undefined).join(' '),
      );
    return { keys: guard.keys, order, gate, listed, cacheKey: () => cacheKey };
  };

  it('are listed, the newest first, by state, path, key and caller, and page by page', async () => {
    const { keys, order, gate, listed } = await open();
    expect(await listed()).toEqual([]);
    await order('a', '/orders?secret=1');
    await order('b', '/orders/7/items');
    await order('a', '/ordersx', 'bob');
    const running = order('runs', '/%3Cb%3E');
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
    const { after } = await keys.list({ limit: 3 });
    expect(await listed({ limit: 3, ...(after !== undefined && { after }) })).toEqual([all[3]]);
    gate.open.happens();
    await running;
  });

  it('tell of one run when it came and until when it counts, and its response if that is asked for', async () => {
    const { keys, order, cacheKey } = await open({ cacheDuration: 50_000 });
    const begun = Date.now();
    await order('a');
    expect(await keys.get(cacheKey())).toEqual({
      ...{ cacheKey: cacheKey(), state: 'done', method: 'POST', path: '/orders', status: 201 },
      created: expect.closeTo(begun, -4) as number,
      ends: expect.closeTo(begun + 50_000, -4) as number,
    });
    const { response } = (await keys.get(cacheKey(), { response: true })) ?? {};
    expect([response?.status, response?.body.toString()]).toEqual([201, '{"order":7}']);
    expect(await keys.get('of nobody')).toBeUndefined();
  });

  it('are not in the store in clear text, nor are callers', async () => {
    const redis = await RedisServer.start();
    const store = new Keyv(new KeyvRedis(redis.url));
    const { order } = await open({ store, addHeaderToResponse: false });
    await order('order-number-1234', '/', 'caller-of-mine');
    const names = (await redis.ask('KEYS', '*')) as string[];
    const values = await Promise.all(names.map(name => redis.ask('GET', name)));
    expect(names.length).toBe(3);
    expect(JSON.stringify([names, values])).not.toMatch(/order-number|caller-of-mine/);
    await store.disconnect();
    await redis.stop();
  });
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
