import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { postgresLeases } from '../../../lib';
import { PostgresSweep, SWEEP_BATCH, SWEEP_DELAY } from '../../../lib/idempotency/postgres/sweep';
import { PostgresServer } from '../../support/servers/postgres-server';

const LONG = 600_000;

let postgres: PostgresServer;
let pool: Pool;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});
beforeEach(async () => {
  // What is faked is the time-out that a sweep waits for: sockets and the server have their own time.
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date', 'setInterval'],
  });
  pool = new Pool({ connectionString: postgres.url, idleTimeoutMillis: 0 });
  await pool.query('DROP TABLE IF EXISTS bindonce_leases');
});
afterEach(async () => {
  jest.useRealTimers();
  await pool.end();
});
afterAll(() => postgres.stop());

/** Resolves when so many rows are there. */
async function rowsAre(wanted: number): Promise<void> {
  for (;;) {
    const {
      rows: [row],
    } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM bindonce_leases');
    if (row?.count === wanted) return;
  }
}

const expired = (count: number, prefix: string): Promise<unknown> =>
  pool.query(
    "INSERT INTO bindonce_leases SELECT sha256(convert_to($2 || n, 'UTF8')), 'a', n % 2 = 0, false, now() - interval '1 second' FROM generate_series(1, $1) AS n",
    [count, prefix],
  );

describe('postgresLeases()', () => {
  it('deletes expired rows, in batches, and nothing else', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire('running', 'a', LONG);
    await leases.acquire('done', 'b', LONG);
    await leases.complete('done', 'b', LONG);
    await expired(2 * SWEEP_BATCH + 100, 'old');
    jest.advanceTimersByTime(SWEEP_DELAY);
    await rowsAre(2);
    expect(await leases.acquire('running', 'c', LONG)).toMatchObject({ kind: 'running', token: 'a' });
    expect(await leases.acquire('done', 'c', LONG)).toEqual({ kind: 'done', token: 'b' });
  });

  it('lets a run be completed whose lease ran out and was swept', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire('stalled', 'a', LONG);
    await pool.query("UPDATE bindonce_leases SET expires = now() - interval '1 second'");
    jest.advanceTimersByTime(SWEEP_DELAY);
    await rowsAre(0);
    expect(await leases.renew('stalled', 'a', LONG)).toBe(false);
    expect(await leases.complete('stalled', 'a', LONG)).toBe(true);
    expect(await leases.acquire('stalled', 'b', LONG)).toEqual({ kind: 'done', token: 'a' });
  });

  it('does not wait for a locked row, and finds it the next time', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire('other', 'a', LONG);
    await expired(3, 'old');
    const client = await pool.connect();
    await client.query("BEGIN; SELECT FROM bindonce_leases WHERE key = sha256('old1') FOR UPDATE");
    jest.advanceTimersByTime(SWEEP_DELAY);
    await rowsAre(2);
    await client.query('COMMIT');
    client.release();
    await leases.renew('other', 'a', LONG);
    jest.advanceTimersByTime(SWEEP_DELAY);
    await rowsAre(1);
  });

  it('leaves the server alone while there are no requests', async () => {
    const leases = postgresLeases(pool);
    expect(jest.getTimerCount()).toBe(0);
    await leases.acquire('k', 'a', LONG);
    expect(jest.getTimerCount()).toBe(1);
    await expired(1, 'old');
    jest.advanceTimersByTime(SWEEP_DELAY);
    await rowsAre(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps a failed sweep to itself, and sweeps again later', async () => {
    const other = new Pool({ connectionString: postgres.url, idleTimeoutMillis: 0 });
    const asked = jest.spyOn(other, 'query');
    const leases = postgresLeases(other);
    await leases.acquire('k', 'a', LONG);
    await other.end();
    jest.advanceTimersByTime(SWEEP_DELAY);
    expect(asked).toHaveBeenLastCalledWith(expect.stringContaining('SKIP LOCKED'), [SWEEP_BATCH]);
    await new Promise(setImmediate);
    expect(jest.getTimerCount()).toBe(0);
    await expect(leases.acquire('k', 'a', LONG)).rejects.toThrow('after calling end');
    expect(jest.getTimerCount()).toBe(1);
  });

  it('does not keep the AsyncLocalStorage of the request that uses the leases', () => {
    const request = new AsyncLocalStorage<string>();
    const { setTimeout: fake } = globalThis;
    const madeIn: unknown[] = [];
    jest.spyOn(globalThis, 'setTimeout').mockImplementation((...given) => {
      madeIn.push(request.getStore());
      return fake(...given);
    });
    const sweep = new PostgresSweep(() => Promise.resolve(0));
    request.run('a request', () => {
      sweep.used();
    });
    expect(madeIn).toEqual([undefined]);
  });

  it('does not keep a process from ending', async () => {
    jest.useRealTimers();
    const timers = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length;
    const leases = postgresLeases(pool);
    const before = timers();
    await leases.acquire('k', 'a', LONG);
    // Timers of others may end meanwhile, and those of the pool last for some milliseconds.
    for (const end = performance.now() + 5_000; timers() > before && performance.now() < end;) await pause(20);
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
