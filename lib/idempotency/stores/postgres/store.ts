import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isThenable } from '../../../basics/awaitable';
import { checkOptions, objectWith, type Rule } from '../../../options/check';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import type { RunFacts, RunPage, RunQuery, RunRecord } from '../../leases/runs';
import { toStored } from '../responses';
import { findRun, listRuns, nameOf, responsesBy, sweeping, type ListedRuns } from '../sql';
import type { Store } from '../store';
import { commitOn, ddl, listedRuns, NAME, statementsOn, tablesOf, type Tables } from './statements';

/** The part of a `Pool` of pg (node-postgres 8) that bindonce uses. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** Schema of the tables, which must exist. Default: the first of `search_path`. */
  readonly schema?: string;
  /** Beginning of the tables' names: up to 50 letters, digits and `_`. Default `'bindonce_'`. */
  readonly prefix?: string;
}

const name: Rule = {
  expects: 'a name of up to 50 letters, digits and _',
  accepts: value => typeof value === 'string' && NAME.test(value),
};
const rules: Readonly<Record<keyof PostgresStoreOptions, Rule>> = { schema: name, prefix: name };

/** SQLSTATE of the errors that are expected (PostgreSQL, appendix A). */
const UNDEFINED_TABLE = '42P01';
const SERIALIZATION_FAILURE = '40001';
/** Another process has created the tables meanwhile; the code depends on how far it was. */
const MADE_ALREADY: readonly unknown[] = ['42P07', '42710', '23505'];

/** Tries after which a step has failed. */
const TRIES = 20;
/** Rows that are deleted in one statement. */
const SWEEP_BATCH = 1_000;

/** Leases and responses in PostgreSQL; with `commitWith`, in one transaction with the application's own data. */
export interface PostgresStore extends Store {
  readonly commit: NonNullable<Store['commit']>;
}

/**
 * Makes a store on PostgreSQL: one holder for each key among all processes that use the same tables, which are made
 * when they are first used. Requests that wait for one that runs poll ten times a second, those of one process and key
 * together.
 * @param pool a `Pool` of pg with an 'error' listener: without one, pg ends the process when the server goes away.
 * @throws TypeError for anything but a pool, an unknown option, or an invalid name.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  const tables = checked('postgresStore', pool, options);
  const database = new Database(pool, tables);
  const commit = commitOn(tables);
  return {
    leases: new PostgresLeases(database),
    responses: responsesBy({
      read: (key, token) => database.run('read', [keyHash(key), token]),
      keep: (key, token, ms, text) => database.run('keep', [keyHash(key), token, ms, text]),
      remove: (key, token) => database.run('remove', [keyHash(key), token]),
    }),
    commit: (key, token, response, ms) => ({
      text: commit,
      values: [
        keyHash(key).toString('hex'),
        token,
        toStored(nameOf(key, token), response),
        String(ms),
        String(response.status),
      ],
    }),
  };
}

/** Returns the SQL that makes the tables, for a role that may not. @throws TypeError for an invalid name. */
postgresStore.ddl = (options: PostgresStoreOptions = {}): string => {
  checkOptions('postgresStore.ddl', options, rules);
  return ddl(tablesOf(options.prefix ?? 'bindonce_', options.schema));
};

/**
 * The leases of `postgresStore(pool)`, for responses that are kept elsewhere.
 * @throws TypeError as `postgresStore` does.
 */
export const postgresLeases = (pool: PostgresPool, options: PostgresStoreOptions = {}): LeaseStore =>
  new PostgresLeases(new Database(pool, checked('postgresLeases', pool, options)));

function checked(owner: string, pool: unknown, options: PostgresStoreOptions): Tables {
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('a pool', 'query').accepts(pool)) {
    const remedy = isThenable(pool) ? ', not a promise: await it first' : `: ${owner}(new Pool({ connectionString }))`;
    throw new TypeError(`${owner}: pool must be a Pool of pg${remedy}`);
  }
  checkOptions(owner, options, rules);
  return tablesOf(options.prefix ?? 'bindonce_', options.schema);
}

type Step = keyof ReturnType<typeof statementsOn>;

/** The tables: makes them when they are missing, and deletes what has expired. */
class Database {
  private readonly statements: ReturnType<typeof statementsOn>;
  readonly runs: ListedRuns;
  private creating: Promise<void> | undefined;
  /** Every process sweeps: they skip each other's rows. */
  private readonly planSweep = sweeping(
    (['sweepRuns', 'sweepResponses'] as const).map(
      step => async () => (await this.run(step, [SWEEP_BATCH])).length === SWEEP_BATCH,
    ),
  );

  constructor(
    private readonly pool: PostgresPool,
    private readonly tables: Tables,
  ) {
    this.statements = statementsOn(tables);
    this.runs = { sql: listedRuns(tables), parameter: position => `$${position}`, select: this.query.bind(this) };
  }

  run(step: Step, values: unknown[]): Promise<readonly unknown[]> {
    return this.query(this.statements[step], values);
  }

  /** Runs one statement, which is one transaction. */
  async query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    this.planSweep();
    for (let tries = 1; ; tries++) {
      try {
        return (await this.pool.query(text, values)).rows;
      } catch (error) {
        const code = sqlState(error);
        if (tries === TRIES || (code !== UNDEFINED_TABLE && code !== SERIALIZATION_FAILURE)) throw error;
        if (code === UNDEFINED_TABLE) await (this.creating ??= this.create());
        // Else the database isolates more strictly than "read committed", another step came first, and ours changed
        // nothing.
      }
    }
  }

  /** Runs a statement until it has an answer, or the row that another one has locked stays locked. */
  async answer<T extends { readonly locked?: boolean }>(step: Step, values: unknown[]): Promise<T> {
    let row: T | undefined;
    for (let tries = 1; tries <= TRIES; tries++) {
      [row] = (await this.run(step, values)) as readonly T[];
      if (row && !row.locked) return row;
      await pause(tries);
    }
    if (row) return row;
    throw new Error(`postgresStore: ${step} was tried ${TRIES} times, and others had locked the row each time`);
  }

  private async create(): Promise<void> {
    try {
      await this.pool.query(ddl(this.tables));
    } catch (error) {
      if (!MADE_ALREADY.includes(sqlState(error))) throw error;
    } finally {
      this.creating = undefined;
    }
  }
}

class PostgresLeases implements LeaseStore {
  constructor(private readonly database: Database) {}

  async acquire(key: string, token: string, ms: number, about?: RunFacts): Promise<Acquisition> {
    const { keepUnknown = null, method, path, created, keyHash: ofKey, callerHash: ofCaller } = about ?? {};
    const facts = [about && key, method, path, created, ofKey, ofCaller];
    const values = [keyHash(key), token, ms, keepUnknown, ...facts];
    const { kind, token: holder, ms_left: msLeft } = await this.database.answer<Found>('acquire', values);
    if (kind === 'acquired') return { kind };
    return kind === 'running' ? { kind, token: holder, msLeft } : { kind, token: holder };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.database.run('renew', [keyHash(key), token, ms])).length === 1;
  }

  complete(key: string, token: string, ms: number, status?: number): Promise<boolean> {
    return this.is('complete', [keyHash(key), token, ms, status ?? null]);
  }

  release(key: string, token: string): Promise<boolean> {
    return this.is('release', [keyHash(key), token]);
  }

  settle(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): Promise<boolean> {
    return outcome === 'ran' ? this.is('ran', [keyHash(key), token, ms]) : this.is('didNotRun', [keyHash(key), token]);
  }

  async salt(): Promise<string> {
    return (await this.database.answer<{ readonly response: string; readonly locked?: boolean }>('salt', [])).response;
  }

  list(query: RunQuery): Promise<RunPage> {
    return listRuns(query, this.database.runs);
  }

  get(key: string): Promise<RunRecord | undefined> {
    return findRun(keyHash(key), this.database.runs);
  }

  private async is(step: Step, values: unknown[]): Promise<boolean> {
    return (await this.database.answer<{ readonly answer: boolean; readonly locked?: boolean }>(step, values)).answer;
  }
}

interface Found {
  readonly kind: Acquisition['kind'];
  readonly token: string;
  readonly ms_left: number;
  readonly locked: boolean;
}

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function sqlState(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}
