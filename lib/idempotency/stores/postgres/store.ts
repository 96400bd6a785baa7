import { createHash } from 'node:crypto';
import { checkOptions, objectWith, type Rule } from '../../../options/check';
import type { LeaseStore } from '../../leases/lease-store';
import { deleteRuns, insertRun, isAsSeen, schemaWith, selectRuns, SqlLeases, SqlResponses, type Dialect } from '../sql';
import { nameOf, toStored, type Store } from '../store';

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
  // PostgreSQL cuts off a name of more than 63 bytes.
  accepts: value => typeof value === 'string' && /^[a-z_][a-z0-9_]{0,49}$/i.test(value),
};
const rules: Readonly<Record<keyof PostgresStoreOptions, Rule>> = { schema: name, prefix: name };

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
  // The message does not quote the value: a connection string holds a password.
  if (!objectWith('', 'query').accepts(pool))
    throw new TypeError('postgresStore: pool must be a Pool of pg: postgresStore(new Pool({ connectionString }))');
  checkOptions('postgresStore', options, rules);
  const tables = tablesOf(options);
  const responses = new SqlResponses({
    ...tables,
    run: async (text, values) => (await pool.query(text, values)).rows,
    async mayTryAgain(error) {
      const code = sqlState(error);
      if (code === UNDEFINED_TABLE)
        await pool.query(tables.ddl).catch((reason: unknown) => {
          if (!MADE_ALREADY.includes(sqlState(reason))) throw reason;
        });
      // Where the database isolates more strictly than "read committed", another step came first.
      return code === UNDEFINED_TABLE || code === SERIALIZATION_FAILURE;
    },
  });
  return {
    leases: new SqlLeases(responses),
    responses,
    commit(key, token, response, ms) {
      const values = [toStored(nameOf(key, token), response), String(ms), String(response.status)];
      return { text: tables.commit, values: [keyOf(key).toString('hex'), token, ...values] };
    },
  };
}

/** Returns the SQL that makes the tables, for a role that may not. @throws TypeError for an invalid name. */
postgresStore.ddl = (options: PostgresStoreOptions = {}): string => {
  checkOptions('postgresStore.ddl', options, rules);
  return tablesOf(options).ddl;
};

/**
 * The leases of `postgresStore(pool)`, for responses that are kept elsewhere.
 * @throws TypeError as `postgresStore` does.
 */
export function postgresLeases(pool: PostgresPool, options: PostgresStoreOptions = {}): LeaseStore {
  return postgresStore(pool, options).leases;
}

/** SQLSTATE of the errors that are expected (PostgreSQL, appendix A). */
const UNDEFINED_TABLE = '42P01';
const SERIALIZATION_FAILURE = '40001';
/** Another process has created the tables meanwhile; the code depends on how far it was. */
const MADE_ALREADY: readonly unknown[] = ['42P07', '42710', '23505'];

const sqlState = (error: unknown): unknown => (error as { code?: unknown } | null | undefined)?.code;

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
const keyOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/**
 * Names the tables, and makes what differs from other databases.
 *
 * A step locks the rows that it writes, in their newest version. It skips a row that another statement has locked, so
 * it never waits for a transaction of the application: one that has not committed yet, or a step.
 *
 * Time: `now()`, when the statement began, decides whether a lease has expired: a time that is too early never takes a
 * lease from its holder. A lease that is taken begins at `clock_timestamp()`, when it is written.
 */
function tablesOf({ prefix = 'bindonce_', schema }: PostgresStoreOptions) {
  /** The number is the version of what is in the tables. */
  const indexed = (what: string): string => `"${prefix}1_${what}"`;
  const named = (what: string): string => `${schema === undefined ? '' : `"${schema}".`}${indexed(what)}`;
  const [runs, responses] = [named('runs'), named('responses')];
  /**
   * When the lease of a run ends. Renewals write here and nowhere else: a transaction of the application that marks its
   * run done reads no row that a renewal changes, so the two never fail each other at any isolation level.
   */
  const leases = named('leases');
  const dialect: Dialect = {
    named,
    from: `${runs} r JOIN ${leases} l USING (key)`,
    lease: 'l.expires',
    version: "concat_ws(' ', r.token, extract(epoch FROM r.expires), extract(epoch FROM l.expires))",
    now: 'now()',
    lock: 'FOR UPDATE SKIP LOCKED',
    after: ms => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`,
    until: time => `extract(epoch FROM ${time} - now())::float8 * 1000`,
    keyOf,
  };
  const own = 'EXISTS (SELECT FROM own)';
  // (Not to look first, whether there is a run, would wait for a transaction that has changed it.)
  const none = `$2 IS NULL AND NOT EXISTS (SELECT FROM ${runs} WHERE key = $1)`;
  return {
    ...dialect,
    /** Several statements in one query are one transaction: there is no table without the others. */
    ddl: `${schemaWith('bytea', named, indexed)}
CREATE TABLE IF NOT EXISTS ${leases} (
  key bytea PRIMARY KEY, token text NOT NULL, expires timestamptz NOT NULL
);`,
    /** A lease that is done is not renewed any more. */
    writeRun: `
WITH own AS (
  SELECT key FROM ${dialect.from} WHERE key = $1 AND ${isAsSeen(dialect)} FOR UPDATE SKIP LOCKED
), run AS (${insertRun(dialect, `${own} OR ${none}`, own)} RETURNING key), written AS (
  INSERT INTO ${leases} (key, token, expires)
  SELECT key, $3, CASE WHEN $4 THEN 'epoch' ELSE ${dialect.after('$5')} END FROM run
  ON CONFLICT (key) DO UPDATE SET token = excluded.token, expires = excluded.expires RETURNING key
)
SELECT 'written' AS state, '' AS token, 0 AS "msLeft", '' AS version FROM written
UNION ALL SELECT state, token, "msLeft", version FROM (${selectRuns(dialect)} key = $1) AS found
WHERE NOT EXISTS (SELECT FROM written)`,
    renewRun: `
UPDATE ${leases} SET expires = ${dialect.after('$1')}
WHERE key = $2 AND token = $3 AND expires > now() RETURNING key`,
    sweepRuns: `
WITH gone AS (${deleteRuns(dialect)}) DELETE FROM ${leases} WHERE key IN (SELECT key FROM gone) RETURNING key`,
    /**
     * Marks a run done and keeps its response, in a transaction of the application: returns a row if the token still
     * has the key. It has neither `?` nor `:`, which query builders take for parameters, and all its values are text,
     * which every driver sends as it is; each is named once, in order. The response outlives the record, which is read
     * first.
     */
    commit: `
WITH given AS (
  SELECT decode(CAST($1 AS text), 'hex') AS key, CAST($2 AS text) AS token, CAST($3 AS text) AS response,
    clock_timestamp() + CAST(CAST($4 AS text) AS float8) * interval '1 millisecond' AS expires,
    CAST(CAST($5 AS text) AS int) AS status
), done AS (
  UPDATE ${runs} AS r SET done = true, expires = given.expires, status = given.status FROM given
  WHERE r.key = given.key AND r.token = given.token AND NOT r.done RETURNING r.key
)
INSERT INTO ${responses} (key, token, response, expires)
SELECT given.key, given.token, given.response, given.expires + interval '1 minute' FROM given JOIN done USING (key)
RETURNING token`,
  };
}
