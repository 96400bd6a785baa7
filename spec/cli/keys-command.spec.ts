import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import KeyvRedis from '@keyv/redis';
import express from 'express';
import { Keyv } from 'keyv';
import { Pool } from 'pg';
import { idempotency, postgresStore, type IdempotencyOptions } from '../../lib';
import { send } from '../support/listen';
import { keyed } from '../support/replays';
import { serve } from '../support/serve';
import { PostgresServer } from '../support/servers/postgres-server';
import { RedisServer } from '../support/servers/redis-server';

const root = join(__dirname, '../..');
let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
}, 120_000);
afterAll(() => Promise.all([redis.stop(), postgres.stop()]));

/** Runs the command, as `npx bindonce` does. */
function keys(...args: string[]) {
  const command = [join(root, 'dist/cli/bindonce.js'), 'keys', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stdout, stderr };
}

/** Runs one request. @returns its cache key. */
async function order(store: NonNullable<IdempotencyOptions['store']>): Promise<string> {
  let cacheKey = '';
  const app = express().post('/orders/:id', idempotency({ store }), (req, res) => {
    ({ cacheKey } = req.idempotency);
    res.sendStatus(201);
  });
  await send(`${(await serve(app)).url}/orders/7`, { headers: keyed('k') });
  return cacheKey;
}

it.each<
  [
    name: string,
    open: () => { store: NonNullable<IdempotencyOptions['store']>; args: string[]; close(): Promise<unknown> },
  ]
>([
  [
    'Redis',
    () => {
      const store = new Keyv(new KeyvRedis(redis.url), { namespace: 'shop' });
      return { store, args: ['--store', redis.url, '--namespace', 'shop'], close: () => store.disconnect() };
    },
  ],
  [
    'PostgreSQL',
    () => {
      const pool = new Pool({ connectionString: postgres.url });
      const args = ['--store', postgres.url, '--schema', 'public', '--prefix', 'shop_'];
      return { store: postgresStore(pool, { schema: 'public', prefix: 'shop_' }), args, close: () => pool.end() };
    },
  ],
])('lists, shows and purges the runs in %s', async (_name, open) => {
  const { store, args, close } = open();
  const cacheKey = await order(store);
  const row = new RegExp(`^done +201 +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d +POST +/orders/7\\n  ${cacheKey}\\n`);
  expect(keys('ls', ...args)).toEqual({ status: 0, stderr: '', stdout: expect.stringMatching(row) as string });
  expect(JSON.parse(keys('ls', '--key', 'k', '--json', ...args).stdout)).toMatchObject({
    items: [{ cacheKey, status: 201 }],
  });
  expect(keys('ls', '--state', 'unknown', ...args).stdout).toBe('');
  expect(keys('show', cacheKey, ...args).stdout).toMatch(/\n {2}until \d{4}/);
  expect([keys('resolve', cacheKey, 'ran', ...args).status, keys('purge', cacheKey, ...args).stdout]).toEqual([
    1,
    'Done.\n',
  ]);
  expect([keys('purge', cacheKey, ...args).status, keys('show', cacheKey, ...args).status]).toEqual([1, 1]);
  await close();
});

it.each<[args: string[], message: string]>([
  [[], 'Name one command'],
  [['ls'], 'Name the store: --store'],
  [['show', '--store', 'x.db'], 'Name one command'],
  [['drop', 'x', '--store', 'x.db'], 'Name one command'],
  [['ls', '--store', 'no-such.db'], 'There is no file '],
  [['ls', '--store', 'mysql://localhost'], 'There is no store for mysql://. Use redis://'],
  [['ls', '--store', 'redis://127.0.0.1:1', '--state', 'over'], 'keys.list: state must be one of'],
  [['ls', '--store', 'redis://127.0.0.1:1', '--limti', '5'], "Unknown option '--limti'"],
])('%j is a mistake', (args, message) => {
  const { status, stderr, stdout } = keys(...args);
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringContaining(`bindonce: ${message}`)]);
});
