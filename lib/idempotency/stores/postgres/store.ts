import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isThenable } from '../../../basics/awaitable';
import { checkOptions, objectWith, type Rule } from '../../../options/check';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import { SqlDatabase } from '../sql';
import { nameOf, toStored, type Store } from '../store';
import { commitOn, ddl, dialectOf, NAME, statementsOn, tablesOf, type Tables } from './statements';

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
    leases: leasesIn(database, tables),
    responses: database,
    commit(key, token, response, ms) {
      const text = toStored(nameOf(key, token), response);
      return {
        text: commit,
        values: [keyHash(key).toString('hex'), token, text, String(ms), String(response.status)],
      };
    },
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
export function postgresLeases(pool: PostgresPool, options: PostgresStoreOptions = {}): LeaseStore {
  const tables = checked('postgresLeases', pool, options);
  return leasesIn(new Database(pool, tables), tables);
}

function checked(owner: string, pool: unknown, options: PostgresStoreOptions): Tables {
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('a pool', 'query').accepts(pool)) {
    const remedy = isThenable(pool) ? ', not a promise: await it first' : `: ${owner}(new Pool({ connectionString }))`;
    throw new TypeError(`${owner}: pool must be a Pool of pg${remedy}`);
  }
  checkOptions(owner, options, rules);
  return tablesOf(options.prefix ?? 'bindonce_', options.schema);
}

/** The tables, which are made when they are missing. */
class Database extends SqlDatabase {
  private creating: Promise<void> | undefined;

  constructor(
    private readonly pool: PostgresPool,
    private readonly tables: Tables,
  ) {
    super(dialectOf(tables));
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

  protected keyOf(cacheKey: string): Buffer {
    return keyHash(cacheKey);
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

type Step = keyof ReturnType<typeof statementsOn>;

/** What a step returns. */
interface Found {
  readonly kind: Exclude<Acquisition['kind'], 'acquired'> | 'granted';
  readonly token: string;
  readonly ms_left: number;
  readonly locked: boolean;
}

function leasesIn(database: Database, tables: Tables): LeaseStore {
  const statements = statementsOn(tables);
  /** Takes a step until it has an answer. A row that stays locked counts as running. */
  async function take(step: Step, key: string, ...values: unknown[]): Promise<Found> {
    for (let tries = 1; ; tries++) {
      const [found] = (await database.query(statements[step], [keyHash(key), ...values])) as readonly Found[];
      if (found && (!found.locked || (step === 'acquire' && tries === TRIES))) return found;
      if (!found && !MAKES.includes(step)) return NOTHING;
      if (tries === TRIES)
        throw new Error(`postgresStore: ${step} was tried ${TRIES} times, and others had locked the row each time`);
      await pause(tries);
    }
  }
  const isGranted = async (...step: Parameters<typeof take>): Promise<boolean> =>
    (await take(...step)).kind === 'granted';
  return {
    ...database.ofLeases,
    async acquire(key, token, ms, about) {
      const { keepUnknown = null, method, path, created, keyHash: ofKey, callerHash: ofCaller } = about ?? {};
      const facts = [about && key, method, path, created, ofKey, ofCaller];
      const { kind, token: holder, ms_left: msLeft } = await take('acquire', key, token, ms, keepUnknown, ...facts);
      if (kind === 'granted') return { kind: 'acquired' };
      return kind === 'running' ? { kind, token: holder, msLeft } : { kind, token: holder };
    },
    renew: async (key, token, ms) => (await database.query(statements.renew, [keyHash(key), token, ms])).length === 1,
    complete: (key, token, ms, status) => isGranted('complete', key, token, ms, status),
    release: (key, token) => isGranted('release', key, token),
    settle: (key, token, outcome, ms) =>
      outcome === 'ran' ? isGranted('ran', key, token, ms) : isGranted('didNotRun', key, token),
  };
}

/** Steps that are granted where there is no run: if they return no row, another has made one meanwhile. */
const MAKES: readonly Step[] = ['acquire', 'complete'];
const NOTHING: Found = { kind: 'running', token: '', ms_left: 0, locked: false };

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
const keyHash = (key: string): Buffer => createHash('sha256').update(key).digest();

const sqlState = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;
