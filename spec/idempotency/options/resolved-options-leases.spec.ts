import { KeyvPostgres } from '@keyv/postgres';
import Keyv from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { idempotency, memoryLeases, type IdempotencyOptions } from '../../../lib';
import { guarded, seen } from '../../support/guarded';

/** An adapter of a store that other processes may share, as Keyv sees it: it cannot be counted. */
class ElsewhereAdapter {
  readonly opts = {};
  private readonly map = new Map<string, unknown>();
  readonly on = () => this;
  readonly get = async (key: string) => this.map.get(key);
  readonly set = async (key: string, value: unknown) => this.map.set(key, value).size > 0;
  readonly delete = async (key: string) => this.map.delete(key);
  readonly clear = async () => this.map.clear();
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
    ['with one Keyv 6 on a Map share them', () => twice({ store: new Keyv6({ store: new Map() }) }), 1],
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
    const ask = async (by: string) => seen(await post({ headers: { 'X-Other': by } }));
    await ask('');
    await ask('1');
    expect([await ask(''), await ask('1'), runs()]).toEqual(['{"run":1} again', `{"run":${expected}} again`, expected]);
  });
});

it('leases with a store that other processes may share are refused when the middleware is made', () => {
  const refused =
    'idempotency: store is a Keyv on %, on which bindonce cannot hold leases. ' +
    'Use a Map, @keyv/redis or @keyv/valkey, or pass `leases`: redisLeases(client), or memoryLeases() when this application runs in one process. ' +
    'For PostgreSQL, use postgresStore(pool) in its place, with a Pool of pg.';
  const store = new Keyv({ store: new ElsewhereAdapter() });
  expect(() => idempotency({ store })).toThrow(refused.replace('%', 'ElsewhereAdapter'));
  expect(() => idempotency({ store, leases: memoryLeases() })).not.toThrow();
  expect(() => idempotency({ store: new Keyv(new KeyvPostgres('postgres://127.0.0.1:1')) })).toThrow(
    refused.replace('%', 'KeyvPostgres'),
  );
});
