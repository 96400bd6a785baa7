import { Pool } from 'pg';
import { postgresLeases } from '../../../../lib';
import { leaseStoreSearch } from '../../../../lib/testing';
import { anyPostgres } from '../../../support/servers/postgres-server';

let postgres: Awaited<ReturnType<typeof anyPostgres>>;

beforeAll(async () => {
  postgres = await anyPostgres();
});
afterAll(() => postgres.stop());

leaseStoreSearch(
  'postgresLeases()',
  () => {
    const pool = new Pool({ connectionString: postgres.url });
    const expire = (key: string): Promise<unknown> =>
      pool.query("UPDATE bindonce_leases SET expires = now() WHERE key = sha256(convert_to($1, 'UTF8'))", [key]);
    return { store: postgresLeases(pool), expire, close: () => pool.end() };
  },
  { depth: 4, atOnce: 10, timeout: 300_000 },
);
