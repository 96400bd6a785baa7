import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { anyPostgres } from '../../support/servers/postgres-server';

const run = promisify(execFile);
const root = join(__dirname, '../../..');
const LIBRARIES = [
  ...['drizzle-orm@0.45.4', 'kysely@0.29.9', 'knex@3.3.0', 'typeorm@1.1.1', 'reflect-metadata@0.2', 'pg@8'],
  ...['postgres@3.4.9', 'prisma@7.10.0', '@prisma/client@7.10.0', '@prisma/adapter-pg@7.10.0', '@types/pg@8'],
];

const SCHEMA = `
generator client {
  provider = "prisma-client-js"
  output   = "../generated"
}
datasource db {
  provider = "postgresql"
}
model orders {
  id  Int     @id @default(autoincrement())
  key String?
}`;

/** Each library orders in a transaction: for one key twice, where PostgreSQL rolls the first run back, and where it throws. */
const PROGRAM = `
const express = require(process.env.ROOT + '/node_modules/express');
const lib = require(process.env.ROOT + '/dist');
const { Pool } = require('pg');
const url = process.env.POSTGRES;
(async () => {
  const pool = new Pool({ connectionString: url }).on('error', () => undefined);
  await pool.query(\`CREATE TABLE IF NOT EXISTS orders (id serial PRIMARY KEY, key text);
    CREATE TABLE IF NOT EXISTS stock (id int PRIMARY KEY, v int); INSERT INTO stock VALUES (1, 0), (2, 0) ON CONFLICT DO NOTHING\`);
  const level = { isolationLevel: 'serializable' };
  const sql = require('postgres')(url, { onnotice() {} });
  const { Kysely, PostgresDialect, CompiledQuery } = await import('kysely');
  const knex = require('knex')({ client: 'pg', connection: url });
  require('reflect-metadata');
  const source = new (require('typeorm').DataSource)({ type: 'postgres', url });
  await source.initialize();
  const prisma = new (require('./generated').PrismaClient)({ adapter: new (require('@prisma/adapter-pg').PrismaPg)({ connectionString: url }) });
  const adapters = {
    pg: [lib.fromPg(pool, level), (tx, text) => tx.query(text)],
    postgresJs: [lib.fromPostgresJs(sql, 'isolation level serializable'), (tx, text) => tx.unsafe(text)],
    drizzle: [lib.fromDrizzle(require('drizzle-orm/node-postgres').drizzle(pool), level), (tx, text) => tx.execute(text)],
    drizzleOnPostgresJs: [lib.fromDrizzle(require('drizzle-orm/postgres-js').drizzle(sql), level), (tx, text) => tx.execute(text)],
    kysely: [lib.fromKysely(new Kysely({ dialect: new PostgresDialect({ pool }) }), level), (tx, text) => tx.executeQuery(CompiledQuery.raw(text))],
    knex: [lib.fromKnex(knex, level), (tx, text) => tx.raw(text)],
    typeOrm: [lib.fromTypeOrm(source, level), (tx, text) => tx.query(text)],
    prisma: [lib.fromPrisma(prisma, { isolationLevel: 'Serializable' }), (tx, text) => tx.$queryRawUnsafe(text)],
  };
  let runs = 0;
  const app = express();
  const once = lib.idempotency({ store: lib.postgresStore(pool) });
  for (const [name, [adapter, query]] of Object.entries(adapters))
    app.post('/' + name, once, async (req, res) => {
      await req.idempotency.commitWith(adapter, async tx => {
        runs++;
        await query(tx, "INSERT INTO orders (key) VALUES ('" + req.idempotency.key + "')");
        if (req.query.skew) {
          // Each reads what the other writes.
          await query(tx, 'SELECT v FROM stock WHERE id = 1');
          if (runs === 1) {
            const other = await pool.connect();
            for (const step of ['BEGIN ISOLATION LEVEL SERIALIZABLE', 'SELECT v FROM stock WHERE id = 2', 'UPDATE stock SET v = v + 1 WHERE id = 1', 'COMMIT'])
              await other.query(step);
            other.release();
          }
          await query(tx, 'UPDATE stock SET v = v + 1 WHERE id = 2');
        }
        if (req.query.fails) throw new Error('No tea.');
        res.status(201).json({ name, odd: '?:x $1 \\\\ ü \\' "' });
      });
    });
  app.use((error, _req, res, _next) => res.status(500).send(error.message));
  const server = app.listen(0, '127.0.0.1', async () => {
    const found = {};
    for (const name of Object.keys(adapters)) {
      found[name] = [];
      for (const [key, search] of [['a', ''], ['a', ''], ['b', '?skew=1'], ['c', '?fails=1'], ['c', '']]) {
        runs = 0;
        const answer = await fetch('http://127.0.0.1:' + server.address().port + '/' + name + search, { method: 'POST', headers: { 'Idempotency-Key': name + key } });
        const { rows } = await pool.query('SELECT FROM orders WHERE key = $1', [name + key]);
        found[name].push([answer.status, answer.headers.get('idempotent-replayed'), runs, rows.length, (await answer.text()).slice(-4)]);
      }
    }
    console.log(JSON.stringify(found));
    process.exit(0);
  });
})();`;

const TYPES = `
import { Pool } from 'pg';
import postgres from 'postgres';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect, type Transaction, type Generated } from 'kysely';
import knex, { type Knex } from 'knex';
import { DataSource, type EntityManager } from 'typeorm';
import { PrismaClient, type Prisma } from './generated';
import { fromPg, fromPostgresJs, fromDrizzle, fromKysely, fromKnex, fromTypeOrm, fromPrisma, type RequestIdempotency } from 'bindonce';
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): void => undefined;
export async function f(guard: RequestIdempotency): Promise<void> {
  const pool = new Pool();
  const id = await guard.commitWith(fromPg(pool), async tx => (await tx.query<{ id: number }>('select 1')).rows[0]?.id);
  is<Equal<typeof id, number | undefined>>();
  await guard.commitWith(fromPostgresJs(postgres('')), async tx => { await tx\`select 1\`; });
  await guard.commitWith(fromDrizzle(drizzle(pool), { isolationLevel: 'serializable' }), async tx => { await tx.execute('select 1'); });
  interface Tables { orders: { id: Generated<number>; key: string } }
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await guard.commitWith(fromKysely(kysely), async tx => { is<Equal<typeof tx, Transaction<Tables>>>(); });
  await guard.commitWith(fromKnex(knex({ client: 'pg' })), async tx => { const same: Knex.Transaction = tx; void same; });
  await guard.commitWith(fromTypeOrm(new DataSource({ type: 'postgres' })), async tx => { is<Equal<typeof tx, EntityManager>>(); });
  await guard.commitWith(fromPrisma(new PrismaClient({} as never), { timeout: 10_000 }), async tx => { const same: Prisma.TransactionClient = tx; void same; });
}`;

describe('commitWith() with the libraries that have adapters', () => {
  let folder: string;
  let postgres: Awaited<ReturnType<typeof anyPostgres>>;

  beforeAll(async () => {
    postgres = await anyPostgres();
    folder = mkdtempSync(join(tmpdir(), 'bindonce-transactions-'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', ...LIBRARIES], {
      cwd: folder,
    });
    symlinkSync(root, join(folder, 'node_modules/bindonce'));
    mkdirSync(join(folder, 'prisma'));
    writeFileSync(join(folder, 'prisma/schema.prisma'), SCHEMA);
    writeFileSync(
      join(folder, 'prisma.config.ts'),
      `import { defineConfig } from 'prisma/config'; export default defineConfig({ schema: 'prisma/schema.prisma' });`,
    );
    // It would download an engine, which only migrations need.
    const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
    await run(join(folder, 'node_modules/.bin/prisma'), ['generate'], { cwd: folder, env });
  }, 300_000);
  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('commits, replays, runs again and rolls back by each of them', async () => {
    writeFileSync(join(folder, 'program.cjs'), PROGRAM);
    const env = { ...process.env, ROOT: root, POSTGRES: postgres.url };
    const { stdout } = await run(process.execPath, ['program.cjs'], { cwd: folder, env });
    const found = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(found)).toHaveLength(8);
    const end = expect.any(String) as string;
    for (const [name, answers] of Object.entries(found))
      expect({ name, answers }).toEqual({
        name,
        answers: [
          [201, null, 1, 1, end],
          [201, 'true', 0, 1, end],
          [201, null, 2, 1, end],
          [500, null, 1, 0, 'tea.'],
          [201, null, 1, 1, end],
        ],
      });
  }, 120_000);

  it('gives the work the transaction type of each of them', async () => {
    writeFileSync(join(folder, 'types.ts'), TYPES);
    const options = '--noEmit --strict --noUncheckedIndexedAccess --skipLibCheck --module nodenext --target es2022';
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const args = [join(root, 'node_modules/typescript/bin/tsc'), ...options.split(' '), ...types, 'types.ts'];
    const compiled = run(process.execPath, args, { cwd: folder });
    expect(await compiled.catch((error: unknown) => error as { stdout: string })).toMatchObject({ stdout: '' });
  }, 120_000);
});
