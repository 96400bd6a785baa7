import { setTimeout as pause } from 'node:timers/promises';
import { isThenable } from '../../../basics/awaitable';
import { checkOptions, objectWith, type Rule } from '../../../options/check';
import type { LeaseStore } from '../../leases/lease-store';
import type { RunRecord } from '../../leases/runs';
import { SqlDatabase, type Dialect } from '../sql';
import { nameOf, toStored, type Store } from '../store';
import { ddl, keyOf, NAME, namesOf, statementsOn } from './statements';

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
export type PostgresStore = Required<Store>;

/**
 * Makes a store on PostgreSQL: one holder for each key among all processes that use the same tables, which are made
 * when they are first used. Requests that wait for one that runs poll ten times a second, those of one process and key
 * together.
 * @param pool a `Pool` of pg with an 'error' listener: without one, pg ends the process when the server goes away.
 * @throws TypeError for anything but a pool, an unknown option, or an invalid name.
 */
export function postgresStore(pool: PostgresPool, options: PostgresStoreOptions = {}): PostgresStore {
  return storeOn('postgresStore', pool, options);
}

/** Returns the SQL that makes the tables, for a role that may not. @throws TypeError for an invalid name. */
postgresStore.ddl = (options: PostgresStoreOptions = {}): string => {
  checkOptions('postgresStore.ddl', options, rules);
  return ddl(options.prefix, options.schema);
};

/**
 * The leases of `postgresStore(pool)`, for responses that are kept elsewhere.
 * @throws TypeError as `postgresStore` does.
 */
export function postgresLeases(pool: PostgresPool, options: PostgresStoreOptions = {}): LeaseStore {
  return storeOn('postgresLeases', pool, options).leases;
}

function storeOn(owner: string, pool: PostgresPool, options: PostgresStoreOptions): PostgresStore {
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('a pool', 'query').accepts(pool)) {
    const remedy = isThenable(pool) ? ', not a promise: await it first' : `: ${owner}(new Pool({ connectionString }))`;
    throw new TypeError(`${owner}: pool must be a Pool of pg${remedy}`);
  }
  checkOptions(owner, options, rules);
  const { prefix, schema } = options;
  const statements = statementsOn(namesOf(prefix, schema));
  const database = new Database(pool, statements.dialect, ddl(prefix, schema));
  return {
    leases: leasesIn(database, statements),
    responses: database,
    commit(key, token, response, ms) {
      const values = [toStored(nameOf(key, token), response), String(ms), String(response.status)];
      return { text: statements.commit, values: [keyOf(key).toString('hex'), token, ...values] };
    },
  };
}

/** The tables, which are made when they are missing. */
class Database extends SqlDatabase {
  constructor(
    private readonly pool: PostgresPool,
    dialect: Dialect,
    private readonly ddl: string,
  ) {
    super(dialect);
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
        // The database isolates more strictly than "read committed", another step came first, and ours changed nothing.
        if (code === SERIALIZATION_FAILURE) continue;
      }
      await this.pool.query(this.ddl).catch((error: unknown) => {
        if (!MADE_ALREADY.includes(sqlState(error))) throw error;
      });
    }
  }
}

type Statements = ReturnType<typeof statementsOn>;

/**
 * The states of a run of the token for which a step is granted; where there is no run, or one that is over, its token
 * makes no difference. If a step was not granted all the same, another statement has the row, or has just made it.
 */
const GRANTED = {
  acquire: ['none', 'over', 'running', 'unknown'],
  complete: ['none', 'over', 'running', 'unknown', 'done'],
  release: ['running', 'unknown', 'done'],
  ran: ['unknown'],
  didNotRun: ['unknown'],
} as const satisfies Partial<Record<keyof Statements, readonly string[]>>;

/** What a step returns. */
interface Found {
  readonly state: RunRecord['state'] | 'granted' | 'none' | 'over';
  readonly token: string;
  readonly msLeft: number;
}

const NONE: Found = { state: 'none', token: '', msLeft: 0 };

function leasesIn(database: Database, statements: Statements): LeaseStore {
  /** Takes a step until it has an answer. A row that stays locked counts as running. */
  async function take(step: keyof typeof GRANTED, key: string, token: string, ...values: unknown[]): Promise<Found> {
    const granted: readonly Found['state'][] = GRANTED[step];
    for (let tries = 1; ; tries++) {
      const [found = NONE] = (await database.query(statements[step], [keyOf(key), token, ...values])) as Found[];
      const { state, token: holder } = found;
      if (!granted.includes(state) || !(holder === token || state === 'none' || state === 'over')) return found;
      if (tries < TRIES) await pause(tries);
      else if (step === 'acquire' && found !== NONE) return found;
      else throw new Error(`postgresStore: ${step} was tried ${TRIES} times, and others had locked the row each time`);
    }
  }
  const isGranted = async (...step: Parameters<typeof take>): Promise<boolean> =>
    (await take(...step)).state === 'granted';
  return {
    ...database.ofLeases,
    async acquire(key, token, ms, about) {
      const { keepUnknown = null, method, path, created, keyHash: ofKey, callerHash: ofCaller } = about ?? {};
      const facts = [about && key, method, path, created, ofKey, ofCaller];
      const { state, token: holder, msLeft } = await take('acquire', key, token, ms, keepUnknown, ...facts);
      if (state === 'granted') return { kind: 'acquired' };
      return state === 'done' || state === 'unknown'
        ? { kind: state, token: holder }
        : { kind: 'running', token: holder, msLeft };
    },
    renew: async (key, token, ms) => (await database.query(statements.renew, [keyOf(key), token, ms])).length === 1,
    complete: (key, token, ms, status) => isGranted('complete', key, token, ms, status),
    release: (key, token) => isGranted('release', key, token),
    settle: (key, token, outcome, ms) =>
      outcome === 'ran' ? isGranted('ran', key, token, ms, null) : isGranted('didNotRun', key, token),
  };
}

const sqlState = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;
