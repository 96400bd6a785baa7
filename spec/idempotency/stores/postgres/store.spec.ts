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
