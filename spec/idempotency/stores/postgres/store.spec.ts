import { Pool } from 'pg';
import { postgresLeases, postgresStore } from '../../../../lib';
import { leaseStoreContract, type LeaseStoreUnderTest } from '../../../../lib/testing';
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

function onTwoPools(url: string): LeaseStoreUnderTest {
  const pools = [new Pool({ connectionString: url }), new Pool({ connectionString: url })] as const;
  const [one, other] = [postgresStore(pools[0]).leases, postgresLeases(pools[1])];
  return { one, other, close: () => Promise.all(pools.map(pool => pool.end())) };
}

leaseStoreContract('postgresStore() on two pools', () => onTwoPools(postgres.url), { watches: false });
leaseStoreContract('postgresStore() where every transaction is serializable', () => onTwoPools(strict.url), {
  watches: false,
});
