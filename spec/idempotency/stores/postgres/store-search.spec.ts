import { Pool } from 'pg';
import { postgresStore } from '../../../../lib';
import { leaseStoreSearch } from '../../../../lib/testing';
import { anyPostgres } from '../../../support/servers/postgres-server';

let postgres: Awaited<ReturnType<typeof anyPostgres>>;

beforeAll(async () => {
  postgres = await anyPostgres();
});
afterAll(() => postgres.stop());

leaseStoreSearch(
  'postgresStore()',
  () => {
    const pool = new Pool({ connectionString: postgres.url });
    const expire = async (key: string): Promise<void> => {
      for (const table of ['runs', 'leases'])
        await pool.query(`UPDATE bindonce_1_${table} SET expires = now() WHERE key = sha256(convert_to($1, 'UTF8'))`, [
          key,
        ]);
    };
    return { store: postgresStore(pool).leases, expire, close: () => pool.end() };
  },
  { depth: 4, atOnce: 10, timeout: 300_000 },
);
