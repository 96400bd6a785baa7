import { createHash } from 'node:crypto';
import { anInstance, checkOptions, type Rule } from '../../options/check';
import type { Acquisition, LeaseStore } from '../leases/lease-store';
import type { PostgresPool } from './pool';
import { statementsOn } from './statements';
import { PostgresSweep, SWEEP_BATCH } from './sweep';
import { PostgresTable } from './table';
import { wakeUpsOf, type PostgresWakeUps } from './notifications';

/** What can be chosen about leases on PostgreSQL. */
export interface PostgresLeasesOptions {
  /** Table of the leases, `name` or `schema.name` of letters, digits and `_`, upper case as it is; made when it is not there. Default `'bindonce_leases'`. */
  readonly table?: string;
}

/** A longer name PostgreSQL cuts off, so that two could meet. */
const TABLE_NAME = /^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/i;

const rules: Readonly<Record<keyof PostgresLeasesOptions, Rule>> = {
  table: {
    expects: 'a table name of letters, digits and _, after a schema and a dot if need be',
    accepts: value => typeof value === 'string' && TABLE_NAME.test(value),
  },
};

/**
 * Leases on PostgreSQL: one holder for each key among all processes that use the same table.
 *
 * While requests wait for one that runs, one connection of the pool listens; a pool of one connection has none to spare,
 * and its waiters ask ten times a second instead.
 * @param pool a `Pool` of pg, with an 'error' listener of yours, since pg ends the process without one when the server goes away.
 * @throws TypeError for something else than a pool, an unknown option, or a table name that is none.
 */
export function postgresLeases(pool: PostgresPool, options: PostgresLeasesOptions = {}): LeaseStore {
  // Not by its value: a connection string holds a password.
  if (!anInstance('a pool', 'query', 'connect').accepts(pool))
    throw new TypeError('postgresLeases: pool must be a Pool of pg: postgresLeases(new Pool({ connectionString }))');
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

class PostgresLeases implements LeaseStore {
  private readonly statements: ReturnType<typeof statementsOn>;
  private readonly table: PostgresTable;
  private readonly sweep: PostgresSweep;
  private readonly wakeUps: PostgresWakeUps;

  constructor(pool: PostgresPool, table: string) {
    this.statements = statementsOn(table);
    this.table = new PostgresTable(pool, this.statements.create);
    this.sweep = new PostgresSweep(async () => {
      const [row] = await this.table.run(this.statements.sweep, [SWEEP_BATCH]);
      return (row as { swept: number }).swept;
    });
    this.wakeUps = wakeUpsOf(pool);
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
    const hash = hashOf(key);
    const stop = await this.wakeUps.watch(hash.toString('hex'), onChange);
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
    return this.table.run(this.statements[step], ms === undefined ? [hashOf(key), token] : [hashOf(key), token, ms]);
  }
}

/** Text in PostgreSQL holds no NUL, and an index holds no long text. */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
