import { Client, Pool } from 'pg';
import { postgresLeases, type LeaseStore, type PostgresPool } from '../../../../lib';
import { PostgresServer } from '../../../support/servers/postgres-server';

const LONG = 60_000;

let postgres: PostgresServer;
let admin: Client;
let databases = 0;
const pools: Pool[] = [];

beforeAll(async () => {
  postgres = await PostgresServer.start();
  admin = await connected(postgres.url);
});
afterEach(() => Promise.all(pools.splice(0).map(pool => pool.end())));
afterAll(async () => {
  await admin.end();
  await postgres.stop();
});

async function connected(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}

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

describe('the table of postgresLeases()', () => {
  it('is made once, with its index, when twenty processes start at the same moment', async () => {
    const url = await freshDatabase();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => postgresLeases(poolOn(url)).acquire('k', `token ${index}`, LONG)),
    );
    expect(answers.filter(({ kind }) => kind === 'acquired')).toHaveLength(1);
    const { rows } = await poolOn(url).query(
      "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
    );
    expect(rows).toEqual([
      {
        tablename: 'bindonce_leases',
        indexdef: 'CREATE INDEX bindonce_leases_expires_idx ON public.bindonce_leases USING btree (expires)',
      },
      {
        tablename: 'bindonce_leases',
        indexdef: 'CREATE UNIQUE INDEX bindonce_leases_pkey ON public.bindonce_leases USING btree (key)',
      },
    ]);
  });

  it('is made again after it was dropped', async () => {
    const pool = poolOn(await freshDatabase());
    const leases = postgresLeases(pool);
    await worksIn(leases);
    await pool.query('DROP TABLE bindonce_leases');
    await worksIn(leases);
  });

  it('can be made by another role, for a role that may not', async () => {
    const url = await freshDatabase();
    const owner = poolOn(url);
    await owner.query('CREATE ROLE shop LOGIN; REVOKE CREATE ON SCHEMA public FROM public');
    const leases = postgresLeases(poolOn(url.replace('bindonce@', 'shop@')));
    await expect(leases.acquire('k', 'a', LONG)).rejects.toThrow('permission denied for schema public');
    await owner.query(`
      CREATE TABLE bindonce_leases (key bytea PRIMARY KEY, token text NOT NULL, done boolean NOT NULL, expires timestamptz NOT NULL);
      GRANT SELECT, INSERT, UPDATE, DELETE ON bindonce_leases TO shop`);
    await worksIn(leases);
  });

  it.each<[string, string]>([
    ['a reserved word', 'order'],
    ['upper case, which counts', 'Leases'],
    ['in a schema', 'shop.leases'],
  ])('can have a name that is %s', async (_title, table) => {
    const pool = poolOn(await freshDatabase());
    await pool.query('CREATE SCHEMA shop; CREATE TABLE leases (another int)');
    await worksIn(postgresLeases(pool, { table }));
    const { rows } = await pool.query(
      "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'shop') AND tablename <> 'leases' OR schemaname = 'shop'",
    );
    const [schemaname, tablename] = table.includes('.') ? table.split('.') : ['public', table];
    expect(rows).toEqual([{ schemaname, tablename }]);
  });

  it.each<unknown>(['', 'a b', '1a', 'a"b', 'a.b.c', '.a', 'ä', 'a\n', 'x'.repeat(64), `${'x'.repeat(64)}.a`, 7, null])(
    'cannot be called %p',
    table => {
      const options = { table } as { table: string };
      expect(() => postgresLeases(poolOn(postgres.url), options)).toThrow(
        /^postgresLeases: table must be a table name of letters, digits and _, optionally after a schema and a dot, not /,
      );
    },
  );
});

describe('postgresLeases()', () => {
  it('names an option that it does not have', () => {
    const options = { tabel: 'leases' } as object;
    expect(() => postgresLeases(poolOn(postgres.url), options)).toThrow(
      new TypeError('postgresLeases: there is no option "tabel"; did you mean "table"?'),
    );
  });

  it.each<unknown>([undefined, null, {}, 'postgres://shop:secret@db/shop'])(
    'refuses %p for a pool, and does not repeat it',
    pool => {
      expect(() => postgresLeases(pool as PostgresPool)).toThrow(
        new TypeError('postgresLeases: pool must be a Pool of pg: postgresLeases(new Pool({ connectionString }))'),
      );
    },
  );

  it('asks for the pool of a promise', () => {
    expect(() => postgresLeases(Promise.resolve() as never)).toThrow(
      new TypeError('postgresLeases: pool must be a Pool of pg, not a promise: await it first'),
    );
  });
});
