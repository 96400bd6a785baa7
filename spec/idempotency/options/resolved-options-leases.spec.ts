import express from 'express';
import Keyv from 'keyv';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

/** An adapter of a store that other processes may share, as Keyv sees it. */
class ElsewhereAdapter {
  readonly opts = {};
  private readonly map = new Map<string, unknown>();
  on(): this {
    return this;
  }
  get(key: string): Promise<unknown> {
    return Promise.resolve(this.map.get(key));
  }
  set(key: string, value: unknown): Promise<boolean> {
    this.map.set(key, value);
    return Promise.resolve(true);
  }
  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.map.delete(key));
  }
  clear(): Promise<void> {
    this.map.clear();
    return Promise.resolve();
  }
}

/** Two middlewares, one application: how often does the handler run for one request to each? */
async function runsOf(one: IdempotencyOptions, other: IdempotencyOptions): Promise<number> {
  let runs = 0;
  const guards = [idempotency(one), idempotency(other)];
  const app = express().post(
    '/',
    (req, res, next) => guards[Number(req.get('X-Guard'))]?.(req, res, next),
    (_req, res) => void res.json({ run: ++runs }),
  );
  const { url } = await serve(app);
  for (const guard of ['0', '1', '0', '1'])
    expect((await send(url, { headers: keyed('k', { 'X-Guard': guard }) })).status).toBe(200);
  return runs;
}

describe('leases', () => {
  it.each<[string, () => [IdempotencyOptions, IdempotencyOptions]]>([
    ['have no store of their own', () => [{}, {}]],
    [
      'have one Keyv',
      () => {
        const store = new Keyv();
        return [{ store }, { store }];
      },
    ],
    [
      'have two Keyvs on one Map',
      () => {
        const store = new Map();
        return [{ store: new Keyv({ store }) }, { store: new Keyv({ store }) }];
      },
    ],
    [
      'have two Keyvs of one namespace on one Map',
      () => {
        const store = new Map();
        return [{ store: new Keyv({ store, namespace: 'a' }) }, { store: new Keyv({ store, namespace: 'a' }) }];
      },
    ],
    [
      'share leases and a Keyv elsewhere',
      () => {
        const [store, leases] = [new Keyv({ store: new ElsewhereAdapter() }), memoryLeases()];
        return [
          { store, leases },
          { store, leases },
        ];
      },
    ],
  ])('are shared by two middlewares that %s', async (_title, make) => {
    expect(await runsOf(...make())).toBe(1);
  });

  it.each<[string, () => [IdempotencyOptions, IdempotencyOptions]]>([
    ['two Keyvs', () => [{ store: new Keyv() }, { store: new Keyv() }]],
    ['a Keyv and the default store', () => [{ store: new Keyv() }, {}]],
    [
      'two namespaces on one Map',
      () => {
        const store = new Map();
        return [{ store: new Keyv({ store, namespace: 'a' }) }, { store: new Keyv({ store, namespace: 'b' }) }];
      },
    ],
  ])('are apart on %s', async (_title, make) => {
    expect(await runsOf(...make())).toBe(2);
  });

  it('with a store that other processes may share are refused when the middleware is made', () => {
    const store = new Keyv({ store: new ElsewhereAdapter() });
    expect(() => idempotency({ store })).toThrow(
      new TypeError(
        'idempotency: store is a Keyv on ElsewhereAdapter, on which bindonce cannot hold leases. ' +
          'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this application runs in one process.',
      ),
    );
    expect(() => idempotency({ store, leases: memoryLeases() })).not.toThrow();
  });
});
