import { idempotency, postgresStore } from 'bindonce';
import { Pool } from 'pg';

const pool = new Pool().on('error', console.error);
export const once = idempotency({ store: postgresStore(pool), whenOwnerDies: 'refuse', cacheDuration: 7 * 86_400_000 });
// later: once.resolve(cacheKey, 'ran'), or 'did-not-run'
