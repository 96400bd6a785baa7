import Keyv from 'keyv';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../../lib';
import { guarded, seen } from '../../support/guarded';

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
    return Promise.resolve(this.map.set(key, value).size > 0);
  }
  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.map.delete(key));
  }
  clear(): Promise<void> {
    return Promise.resolve(this.map.clear());
  }
}

const twice = <T>(one: T): [T, T] => [one, one];
const onMap = (...namespaces: string[]): IdempotencyOptions[] => {
  const store = new Map();
  return namespaces.map(namespace => ({ store: new Keyv({ store, ...(namespace && { namespace }) }) }));
};

describe('two middlewares', () => {
  it.each<[what: string, make: () => IdempotencyOptions[], runs: number]>([
    ['without a store of their own share responses', () => [{}, {}], 1],
    ['with one Keyv share them', () => twice({ store: new Keyv() }), 1],
    ['with two Keyvs on one Map share them', () => onMap('', ''), 1],
    ['with two Keyvs of one namespace on one Map share them', () => onMap('a', 'a'), 1],
    [
      'with one Keyv elsewhere, and leases, share them',
      () => twice({ store: new Keyv({ store: new ElsewhereAdapter() }), leases: memoryLeases() }),
      1,
    ],
    ['with two Keyvs do not', () => [{ store: new Keyv() }, { store: new Keyv() }], 2],
    ['with a Keyv and with the default store do not', () => [{ store: new Keyv() }, {}], 2],
    ['with two namespaces on one Map do not', () => onMap('a', 'b'), 2],
  ])('%s', async (_what, make, expected) => {
    const [one, other] = make().map(options => idempotency(options));
    const { post, runs } = await guarded((req, res, next) => (req.get('X-Other') ? other : one)?.(req, res, next));
    const texts: string[] = [];
    for (const other of ['', '1', '', '1']) texts.push(seen(await post({ headers: { 'X-Other': other } })));
    expect([texts[2], texts[3], runs()]).toEqual([
      '{"run":1} again',
      expected === 1 ? '{"run":1} again' : '{"run":2} again',
      expected,
    ]);
  });
});

it('leases with a store that other processes may share are refused when the middleware is made', () => {
  const store = new Keyv({ store: new ElsewhereAdapter() });
  expect(() => idempotency({ store })).toThrow(
    new TypeError(
      'idempotency: store is a Keyv on ElsewhereAdapter, on which bindonce cannot hold leases. ' +
        'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this application runs in one process. ' +
        'For PostgreSQL, use postgresStore(pool) in its place, with a Pool of pg.',
    ),
  );
  expect(() => idempotency({ store, leases: memoryLeases() })).not.toThrow();
});
