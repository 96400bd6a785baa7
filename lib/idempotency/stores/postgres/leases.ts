import { createHash } from 'node:crypto';
import { isThenable } from '../../../basics/awaitable';
import { checkOptions, objectWith, type Rule } from '../../../options/check';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import { statementsOn } from './statements';

/** The part of a `Pool` of pg (node-postgres 8) that bindonce uses. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

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

/** SQLSTATE of the errors that are expected (PostgreSQL, appendix A). */
const UNDEFINED_TABLE = '42P01';
const SERIALIZATION_FAILURE = '40001';
/** Another process has created the table meanwhile; the code depends on how far it was. */
const MADE_ALREADY: readonly unknown[] = ['42P07', '42710', '23505'];

/** Tries after which a step has failed. */
const TRIES = 20;

/** Milliseconds from the use of the table to the sweep; until then, expired rows only take space. */
const SWEEP_DELAY = 60_000;
/** Rows that are deleted in one statement. */
const SWEEP_BATCH = 1_000;

/**
 * Makes leases on PostgreSQL: one holder for each key among all processes that use the same table. Requests that wait
 * for one that runs poll ten times a second, those of one process and key together.
 * @param pool a `Pool` of pg with an 'error' listener: without one, pg ends the process when the server goes away.
 * @throws TypeError for anything but a pool, an unknown option, or an invalid table name.
 */
export function postgresLeases(pool: PostgresPool, options: PostgresLeasesOptions = {}): LeaseStore {
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('a pool', 'query').accepts(pool)) {
    const remedy = isThenable(pool)
      ? ', not a promise: await it first'
      : ': postgresLeases(new Pool({ connectionString }))';
    throw new TypeError(`postgresLeases: pool must be a Pool of pg${remedy}`);
  }
  checkOptions('postgresLeases', options, rules);
  const names = (options.table ?? 'bindonce_leases').split('.');
  return new PostgresLeases(pool, statementsOn(names.map(name => `"${name}"`).join('.')));
}

class PostgresLeases implements LeaseStore {
  private creating: Promise<void> | undefined;
  private sweeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: PostgresPool,
    private readonly statements: ReturnType<typeof statementsOn>,
  ) {}

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const [row] = await this.run('acquire', [keyHash(key), token, ms]);
    const { kind, token: holder, ms_left: msLeft } = row as { kind: string; token: string; ms_left: number };
    if (kind === 'running') return { kind, token: holder, msLeft: Math.max(0, msLeft) };
    return kind === 'done' ? { kind, token: holder } : { kind: 'acquired' };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('renew', [keyHash(key), token, ms])).length === 1;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.run('complete', [keyHash(key), token, ms])).length === 1;
  }

  async release(key: string, token: string): Promise<boolean> {
    return (await this.run('release', [keyHash(key), token])).length === 1;
  }

  /** Runs one statement, which is one transaction. The table is created if it is missing. */
  private async run(
    step: Exclude<keyof typeof this.statements, 'create'>,
    values: unknown[],
  ): Promise<readonly unknown[]> {
    this.sweeping ??= setTimeout(() => {
      void this.sweep();
    }, SWEEP_DELAY).unref();
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const { rows } = await this.pool.query(this.statements[step], values);
        if (rows.length > 0 || step !== 'acquire') return rows;
      } catch (error) {
        const code = sqlState(error);
        if (code === UNDEFINED_TABLE) await (this.creating ??= this.create());
        else if (code !== SERIALIZATION_FAILURE) throw error;
        // The database isolates more strictly than "read committed", another step came first, and ours changed nothing.
      }
    }
    throw new Error(`postgresLeases: the lease has changed ${TRIES} times while it was asked for`);
  }

  private async create(): Promise<void> {
    try {
      await this.pool.query(this.statements.create);
    } catch (error) {
      if (!MADE_ALREADY.includes(sqlState(error))) throw error;
    } finally {
      this.creating = undefined;
    }
  }

  /** Deletes expired rows a minute after a use. Every process does so: they skip each other's rows. */
  private async sweep(): Promise<void> {
    // The next sweep finds the same rows.
    const swept = await this.run('sweep', [SWEEP_BATCH]).catch(() => []);
    if (swept.length === SWEEP_BATCH) return this.sweep();
    this.sweeping = undefined;
  }
}

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
const keyHash = (key: string): Buffer => createHash('sha256').update(key).digest();

const sqlState = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;
