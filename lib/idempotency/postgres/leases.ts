import { createHash } from 'node:crypto';
import { isThenable } from '../../basics/awaitable';
import { checkOptions, objectWith, type Rule } from '../../options/check';
import { CLOSED, type ClosableLeases } from '../leases/closable-leases';
import type { Acquisition, LeaseStore } from '../leases/lease-store';
import type { PostgresPool } from './pool';
import { statementsOn } from './statements';
import { PostgresSweep, SWEEP_BATCH } from './sweep';
import { PostgresTable } from './table';
import { notificationsOf, type PostgresNotifications } from './notifications';

/** Options of {@link postgresLeases}. */
export interface PostgresLeasesOptions {
  /**
   * Table of the leases: `name` or `schema.name`, of letters, digits and `_`; upper case stays upper case. Created if
   * it does not exist. Default `'bindonce_leases'`.
   */
  readonly table?: string;
}

/** PostgreSQL cuts off names of more than 63 bytes, so two longer names could become the same table. */
const TABLE_NAME = /^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/i;

const rules: Readonly<Record<keyof PostgresLeasesOptions, Rule>> = {
  table: {
    expects: 'a table name of letters, digits and _, optionally after a schema and a dot',
    accepts: value => typeof value === 'string' && TABLE_NAME.test(value),
  },
};

/**
 * Makes leases on PostgreSQL: one holder for each key among all processes that use the same table.
 *
 * While requests wait for one that runs, one connection of the pool listens; a pool of one connection has none to
 * spare, so its waiters poll ten times a second instead.
 * @param pool a `Pool` of pg with an 'error' listener: without one, pg ends the process when the server goes away.
 * @throws TypeError for anything but a pool, an unknown option, or an invalid table name.
 */
export function postgresLeases(pool: PostgresPool, options: PostgresLeasesOptions = {}): LeaseStore {
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('a pool', 'query', 'connect').accepts(pool)) {
    const remedy = isThenable(pool)
      ? ', not a promise: await it first'
      : ': postgresLeases(new Pool({ connectionString }))';
    throw new TypeError(`postgresLeases: pool must be a Pool of pg${remedy}`);
  }
  checkOptions('postgresLeases', options, rules);
  const { table = 'bindonce_leases' } = options;
  return new PostgresLeases(
    pool,
    table
      .split('.')
      .map(name => `"${name}"`)
      .join('.'),
  );
}

class PostgresLeases implements ClosableLeases {
  private readonly statements: ReturnType<typeof statementsOn>;
  private readonly table: PostgresTable;
  private readonly sweep: PostgresSweep;
  private readonly notifications: PostgresNotifications;

  constructor(
    private readonly pool: PostgresPool,
    table: string,
  ) {
    this.statements = statementsOn(table);
    this.table = new PostgresTable(pool, this.statements.create);
    this.sweep = new PostgresSweep(async () => {
      const [row] = await this.table.run(this.statements.sweep, [SWEEP_BATCH]);
      return (row as { swept: number }).swept;
    });
    this.notifications = notificationsOf(pool);
  }

  get [CLOSED](): boolean {
    return this.pool.ending === true;
  }

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const [row] = await this.run('acquire', key, token, ms);
    const {
      kind,
      token: holder,
      ms_left: msLeft,
    } = row as { kind: Acquisition['kind']; token: string; ms_left: number };
    switch (kind) {
      case 'acquired':
        return { kind };
      case 'done':
        return { kind, token: holder };
      case 'running':
        return { kind, token: holder, msLeft: Math.max(0, msLeft) };
    }
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('renew', key, token, ms)).length === 1;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('complete', key, token, ms)).length === 1;
  }

  async release(key: string, token: string): Promise<boolean> {
    return (await this.run('release', key, token)).length === 1;
  }

  async watch(key: string, onChange: () => void): Promise<() => void> {
    const hash = keyHash(key);
    const stop = await this.notifications.watch(hash.toString('hex'), onChange);
    try {
      await this.table.run(this.statements.markAwaited, [hash]);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  private run(
    step: 'acquire' | 'renew' | 'complete' | 'release',
    key: string,
    token: string,
    ms?: number,
  ): Promise<readonly unknown[]> {
    this.sweep.used();
    return this.table.run(this.statements[step], ms === undefined ? [keyHash(key), token] : [keyHash(key), token, ms]);
  }
}

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
