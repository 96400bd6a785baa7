import { Pool } from 'pg';
import { postgresStore } from '../../../../lib';
import { PostgresServer } from '../../../support/servers/postgres-server';

const LONG = 600_000;
const MINUTE = 60_000;

let postgres: PostgresServer;
let pool: Pool;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});
beforeEach(async () => {
  // What is faked is the time-out that a sweep waits for: sockets and the server have their own time.
  const real = ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date', 'setInterval'] as const;
  jest.useFakeTimers({ doNotFake: [...real] });
  pool = new Pool({ connectionString: postgres.url, idleTimeoutMillis: 0 });
  await pool.query('DROP TABLE IF EXISTS bindonce_1_runs, bindonce_1_leases, bindonce_1_responses');
});
afterEach(async () => {
  jest.useRealTimers();
  await pool.end();
});
afterAll(() => postgres.stop());

/** Resolves when so many rows are there. */
async function rowsAre(wanted: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM bindonce_1_runs');
    if (rows[0]?.count === wanted) return;
  }
}

const expired = (count: number): Promise<unknown> =>
  pool.query(
    `WITH old AS (
       INSERT INTO bindonce_1_runs
       SELECT sha256(convert_to('old' || n, 'UTF8')), 'a', n % 2 = 0, now() - interval '1 second' FROM generate_series(1, $1) AS n
       RETURNING key
     ) INSERT INTO bindonce_1_leases SELECT key, 'a', now() - interval '1 second' FROM old`,
    [count],
  );

describe('postgresStore()', () => {
  it('deletes expired rows a minute after it was used, in batches, and nothing else', async () => {
    const { leases } = postgresStore(pool);
    await leases.acquire('running', 'a', LONG);
    await leases.complete('done', 'b', LONG);
    await expired(2_100);
    const asked = jest.spyOn(pool, 'query');
    jest.advanceTimersByTime(MINUTE);
    await rowsAre(2);
    const sweeps = asked.mock.calls.filter(([text]) => String(text).includes('DELETE FROM "bindonce_1_runs"'));
    expect(sweeps).toHaveLength(5);
    expect(await leases.acquire('running', 'c', LONG)).toMatchObject({ kind: 'running', token: 'a' });
    expect(await leases.acquire('done', 'c', LONG)).toEqual({ kind: 'done', token: 'b' });
  });

  it('lets a run be completed whose lease ran out and was swept', async () => {
    const { leases } = postgresStore(pool);
    await leases.acquire('stalled', 'a', LONG);
    for (const table of ['runs', 'leases'])
      await pool.query(`UPDATE bindonce_1_${table} SET expires = now() - interval '1 second'`);
    jest.advanceTimersByTime(MINUTE);
    await rowsAre(0);
    expect(await leases.renew('stalled', 'a', LONG)).toBe(false);
    expect(await leases.complete('stalled', 'a', LONG)).toBe(true);
  });

  it('does not wait for a locked row, and finds it the next time; without requests, it leaves the server alone', async () => {
    const { leases } = postgresStore(pool);
    expect(jest.getTimerCount()).toBe(0);
    await leases.acquire('other', 'a', LONG);
    await expired(3);
    const client = await pool.connect();
    await client.query("BEGIN; SELECT FROM bindonce_1_runs WHERE key = sha256('old1') FOR UPDATE");
    jest.advanceTimersByTime(MINUTE);
    await rowsAre(2);
    await client.query('COMMIT');
    client.release();
    await new Promise(setImmediate);
    expect(jest.getTimerCount()).toBe(0);
    // The sweep may not be over yet.
    while (jest.getTimerCount() === 0) await leases.renew('other', 'a', LONG);
    jest.advanceTimersByTime(MINUTE);
    await rowsAre(1);
  });
});
