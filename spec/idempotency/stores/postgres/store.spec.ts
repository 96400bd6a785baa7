import { Pool } from 'pg';
import { postgresStore } from '../../../../lib';
import { storeContract, type StoreUnderTest } from '../../../../lib/testing';
import { anyPostgres, PostgresServer } from '../../../support/servers/postgres-server';

let postgres: Awaited<ReturnType<typeof anyPostgres>>;
let strict: PostgresServer;

beforeAll(async () => {
  [postgres, strict] = await Promise.all([
    anyPostgres(),
    PostgresServer.start('default_transaction_isolation=serializable'),
  ]);
});
afterAll(() => Promise.all([postgres.stop(), strict.stop()]));

function onTwoPools(url: string): StoreUnderTest {
  const pools = [new Pool({ connectionString: url }), new Pool({ connectionString: url })] as const;
  return {
    one: postgresStore(pools[0]),
    other: postgresStore(pools[1]),
    execute: async (text, values) => (await pools[0].query(text, values)).rows,
    close: () => Promise.all(pools.map(pool => pool.end())),
  };
}

storeContract('postgresStore() on two pools', () => onTwoPools(postgres.url));
storeContract('postgresStore() where every transaction is serializable', () => onTwoPools(strict.url));

it('postgresStore() says of an unknown run that a transaction has locked neither that it is settled nor that there is none', async () => {
  const pool = new Pool({ connectionString: postgres.url });
  const { leases } = postgresStore(pool);
  const key = `locked ${Date.now()}`;
  await leases.acquire(key, 'a', 1, { keepUnknown: 60_000, method: 'POST', path: '/', created: Date.now() });
  const client = await pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM bindonce_1_runs WHERE cache_key = $1 FOR UPDATE', [key]);
  await expect(leases.settle?.(key, 'a', 'ran', 60_000)).rejects.toThrow('others had locked its row each time');
  await client.query('ROLLBACK');
  client.release();
  expect(await leases.settle?.(key, 'a', 'ran', 60_000)).toBe(true);
  await pool.end();
});
