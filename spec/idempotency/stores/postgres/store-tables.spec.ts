import { Client, Pool } from 'pg';
import { postgresLeases, postgresStore, type LeaseStore, type PostgresPool } from '../../../../lib';
import { PostgresServer } from '../../../support/servers/postgres-server';

const LONG = 60_000;

let postgres: PostgresServer;
let admin: Client;
let databases = 0;
const pools: Pool[] = [];

beforeAll(async () => {
  postgres = await PostgresServer.start();
  admin = new Client(postgres.url);
  await admin.connect();
});
afterEach(() => Promise.all(pools.splice(0).map(pool => pool.end())));
afterAll(async () => {
  await admin.end();
  await postgres.stop();
});

/** A database in which there is nothing. */
async function freshDatabase(): Promise<string> {
  const name = `fresh_${databases++}`;
  await admin.query(`CREATE DATABASE ${name}`);
  return postgres.url.replace(/postgres$/, name);
}

function poolOn(url: string): Pool {
  const pool = new Pool({ connectionString: url });
  pools.push(pool);
  return pool;
}

async function worksIn(leases: LeaseStore, key = 'k'): Promise<void> {
  expect(await leases.acquire(key, 'a', LONG)).toEqual({ kind: 'acquired' });
  expect(await leases.complete(key, 'a', LONG)).toBe(true);
  expect(await leases.acquire(key, 'b', LONG)).toEqual({ kind: 'done', token: 'a' });
}

describe('the tables of postgresStore()', () => {
  it('are made once when twenty processes start at the same moment', async () => {
    const url = await freshDatabase();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => postgresStore(poolOn(url)).leases.acquire('k', `token ${index}`, LONG)),
    );
    expect(answers.filter(({ kind }) => kind === 'acquired')).toHaveLength(1);
    const { rows } = await poolOn(url).query<{ tablename: string }>(
      "SELECT tablename FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
    );
    const indexed = rows.map(({ tablename }) => tablename.replace('bindonce_1_', ''));
    expect(indexed.join(' ')).toBe('leases responses responses runs runs runs');
  });

  it('have a salt again after they were emptied', async () => {
    const pool = poolOn(await freshDatabase());
    const { leases } = postgresStore(pool);
    const salt = await leases.salt?.();
    await pool.query('TRUNCATE bindonce_1_responses');
    const answers = await Promise.all(Array.from({ length: 5 }, () => leases.salt?.()));
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^[\da-f-]{36}$/);
    expect(answers).not.toContain(salt);
  });

  it('can be made by another role, for a role that may not', async () => {
    const url = await freshDatabase();
    const owner = poolOn(url);
    await owner.query('CREATE ROLE shop LOGIN; REVOKE CREATE ON SCHEMA public FROM public');
    const { leases } = postgresStore(poolOn(url.replace('bindonce@', 'shop@')));
    await expect(Promise.resolve(leases.acquire('k', 'a', LONG))).rejects.toThrow(
      'permission denied for schema public',
    );
    await owner.query(postgresStore.ddl());
    await owner.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO shop');
    await worksIn(leases);
  });

  it('have the schema and the prefix that they are given, upper case, too, and both functions the same', async () => {
    const pool = poolOn(await freshDatabase());
    await pool.query('CREATE SCHEMA shop');
    const options = { schema: 'shop', prefix: 'Once_' };
    await worksIn(postgresStore(pool, options).leases);
    expect(await postgresLeases(pool, options).acquire('k', 'c', LONG)).toEqual({ kind: 'done', token: 'a' });
    const { rows } = await pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'shop' ORDER BY tablename");
    expect(rows).toEqual(['leases', 'responses', 'runs'].map(name => ({ tablename: `Once_1_${name}` })));
  });

  it.each<unknown>(['', 'a b', '1a', 'a"b', 'a.b', 'ä', 'a\n', 'x'.repeat(51), 7, null])(
    'cannot begin with %p',
    prefix => {
      for (const make of [postgresStore, postgresLeases])
        expect(() => make(poolOn(postgres.url), { prefix } as { prefix: string })).toThrow(
          /^postgresStore: prefix must be a name of up to 50 letters, digits and _, not /,
        );
    },
  );
});

describe('postgresStore()', () => {
  it('works on a pool of one connection, and where every transaction is serializable', async () => {
    const url = await freshDatabase();
    const pool = new Pool({ connectionString: url, max: 1, options: '-c default_transaction_isolation=serializable' });
    pools.push(pool);
    const { leases } = postgresStore(pool);
    await Promise.all([1, 2, 3].map(at => worksIn(leases, `key ${at}`)));
  });

  it.each<unknown>([undefined, null, {}, 'postgres://shop:secret@db/shop'])(
    'refuses %p for a pool, and does not repeat it',
    pool => {
      expect(() => postgresStore(pool as PostgresPool)).toThrow(
        new TypeError('postgresStore: pool must be a Pool of pg: postgresStore(new Pool({ connectionString }))'),
      );
    },
  );
});
