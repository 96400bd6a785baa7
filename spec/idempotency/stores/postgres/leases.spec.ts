import { Pool } from 'pg';
import { postgresLeases, type LeaseStore } from '../../../../lib';
import { leaseStoreContract, type LeaseStoreUnderTest } from '../../../../lib/testing';
import { anyPostgres, PostgresServer } from '../../../support/servers/postgres-server';

let postgres: Awaited<ReturnType<typeof anyPostgres>>;
let strict: PostgresServer;

beforeAll(async () => {
  [postgres, strict] = await Promise.all([
    anyPostgres(),
    PostgresServer.start('default_transaction_isolation=serializable'),
  ]);
});
afterAll(() => Promise.all([postgres.stop(), strict.stop()]));

function onTwoPools(url: string): LeaseStoreUnderTest {
  const pools = [new Pool({ connectionString: url }), new Pool({ connectionString: url })] as const;
  const [one, other] = [postgresLeases(pools[0]), postgresLeases(pools[1])];
  return { one, other, close: () => Promise.all(pools.map(pool => pool.end())) };
}

leaseStoreContract('postgresLeases() on two pools', () => onTwoPools(postgres.url), { watches: false });
leaseStoreContract('postgresLeases() where every transaction is serializable', () => onTwoPools(strict.url), {
  watches: false,
});

describe('a lease on PostgreSQL', () => {
  const LEASE = 500;
  let pool: Pool;
  let leases: LeaseStore;
  let key: string;

  beforeAll(async () => {
    pool = new Pool({ connectionString: postgres.url });
    leases = postgresLeases(pool);
    await leases.acquire('first', 'a', 1);
  });
  beforeEach(() => {
    key = `key ${Math.random()}`;
  });
  afterAll(() => pool.end());

  const runsOut = (token: string): Promise<unknown> =>
    pool.query('UPDATE bindonce_leases SET expires = now() WHERE token = $1', [token]);

  /** How many statements wait for a row. */
  async function waiting(): Promise<number> {
    return (
      await pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    ).rows.length;
  }

  /** Carries out a step while somebody else has the row locked, for as long as a lease lasts. */
  async function whileLocked<T>(step: () => T | Promise<T>): Promise<T> {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query("SELECT FROM bindonce_leases WHERE key = sha256(convert_to($1, 'UTF8')) FOR UPDATE", [key]);
    const answer = step();
    while ((await waiting()) === 0) {
      /* until it waits */
    }
    await client.query('SELECT pg_sleep($1)', [LEASE / 1_000]);
    await client.query('COMMIT');
    client.release();
    return answer;
  }

  it.each<[string, () => unknown, () => boolean | Promise<boolean>]>([
    [
      'acquired',
      async () => {
        await leases.acquire(key, 'old', LEASE);
        await runsOut('old');
      },
      async () => (await leases.acquire(key, 'a', LEASE)).kind === 'acquired',
    ],
    ['completed', () => leases.acquire(key, 'a', LEASE), () => leases.complete(key, 'a', LEASE)],
  ])(
    'that had to wait for its row lasts from when it was %s, and not from when that was asked for',
    async (_title, before, step) => {
      await before();
      expect(await whileLocked(step)).toBe(true);
      const { rows } = await pool.query(
        "SELECT token, expires > now() AS lasts FROM bindonce_leases WHERE key = sha256(convert_to($1, 'UTF8'))",
        [key],
      );
      expect(rows).toEqual([{ token: 'a', lasts: true }]);
    },
  );

  it.each<[string, string, () => unknown[], unknown[]]>([
    [
      'taken by another',
      "token = 'b', expires = now() + interval '1 minute'",
      () => [leases.acquire(key, 'a', LEASE), leases.complete(key, 'a', LEASE)],
      [{ kind: 'running', token: 'b', msLeft: expect.any(Number) as number }, false],
    ],
    [
      'completed',
      "done = true, expires = now() + interval '1 minute'",
      () => [leases.acquire(key, 'a', LEASE)],
      [{ kind: 'done', token: 'a' }],
    ],
  ])('that was %s while others waited for its row is what they find', async (_title, change, steps, answers) => {
    await leases.acquire(key, 'a', 60_000);
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query(`UPDATE bindonce_leases SET ${change} WHERE key = sha256(convert_to($1, 'UTF8'))`, [key]);
    // Who only reads does not wait.
    expect(await leases.acquire(key, 'c', LEASE)).toMatchObject({ kind: 'running', token: 'a' });
    const late = steps();
    while ((await waiting()) < late.length) {
      /* until they wait */
    }
    await client.query('COMMIT');
    client.release();
    expect(await Promise.all(late)).toEqual(answers);
  });

  it('is acquired again by its token, for the new time, after others were told to wait for it', async () => {
    await leases.acquire(key, 'a', LEASE);
    expect(await leases.acquire(key, 'b', LEASE)).toMatchObject({ kind: 'running' });
    expect(await leases.acquire(key, 'a', 60_000)).toEqual({ kind: 'acquired' });
    const seen = await leases.acquire(key, 'b', LEASE);
    expect(seen.kind === 'running' && seen.msLeft > 30_000).toBe(true);
  });

  it('is not renewed or released once it has expired, even if it is free', async () => {
    await leases.acquire(key, 'a', LEASE);
    await runsOut('a');
    expect([await leases.renew(key, 'a', LEASE), await leases.release(key, 'a')]).toEqual([false, false]);
  });

  it('can be completed where nothing but a lease of another that has run out has come after it', async () => {
    await leases.acquire(key, 'b', LEASE);
    await runsOut('b');
    expect(await leases.complete(key, 'a', 60_000)).toBe(true);
    expect(await leases.acquire(key, 'c', LEASE)).toEqual({ kind: 'done', token: 'a' });
  });
});
