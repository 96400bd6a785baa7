import { configure, postgresStore } from 'bindonce';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'], connectionTimeoutMillis: 2_000, query_timeout: 5_000 });
pool.on('error', error => { console.error(error); });

export const { idempotency, bindRequest } = configure({ idempotency: { store: postgresStore(pool) } });
