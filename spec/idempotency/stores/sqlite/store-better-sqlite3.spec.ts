import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sqliteStore, type SqliteDatabase } from '../../../../lib';
import { storeContract } from '../../../../lib/testing';

const folder = mkdtempSync(join(tmpdir(), 'bindonce-better-sqlite3-'));
let BetterSqlite3: new (path: string) => SqliteDatabase;

// It is compiled here where there is no binary of it, which takes minutes, and needs a toolchain.
beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', 'better-sqlite3@12'], { cwd: folder });
  BetterSqlite3 = createRequire(join(folder, 'package.json'))('better-sqlite3') as typeof BetterSqlite3;
}, 900_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

storeContract('sqliteStore() on better-sqlite3', () => {
  const open = () => sqliteStore(new BetterSqlite3(join(folder, 'keys.db')));
  const [one, other] = [open(), open()];
  const close = (): void => {
    one.close();
    other.close();
  };
  return { one, other, close };
});

it('keeps what it has acknowledged when it is opened again, and refuses a database in memory', async () => {
  const path = join(folder, 'again.db');
  const store = sqliteStore(new BetterSqlite3(path));
  await store.leases.acquire('k', 'a', 60_000);
  await store.leases.complete('k', 'a', 60_000);
  store.close();
  const again = sqliteStore(new BetterSqlite3(path));
  expect(await again.leases.acquire('k', 'b', 60_000)).toEqual({ kind: 'done', token: 'a' });
  again.close();
  expect(() => sqliteStore(new BetterSqlite3(':memory:'))).toThrow('sqliteStore: this database is in memory');
});
