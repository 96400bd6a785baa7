import { createHash } from 'node:crypto';
import { schemaWith, type Dialect } from '../sql';

/** Matches a schema, or the beginning of the tables' names: PostgreSQL cuts off a name of more than 63 bytes. */
export const NAME = /^[a-z_][a-z0-9_]{0,49}$/i;

/** Names the tables, quoted. The number is the version of what is in them. */
export const namesOf =
  (prefix = 'bindonce_', schema?: string) =>
  (what: string): string =>
    `${schema === undefined ? '' : `"${schema}".`}"${prefix}1_${what}"`;

/** Several statements in one query are one transaction: there is no table without the others. */
export const ddl = (prefix?: string, schema?: string): string => {
  const named = namesOf(prefix, schema);
  return `${schemaWith(['bytea', 'boolean', 'timestamptz'], named, namesOf(prefix))}
CREATE TABLE IF NOT EXISTS ${named('leases')} (
  key bytea PRIMARY KEY, token text NOT NULL, expires timestamptz NOT NULL
);`;
};

const after = (ms: string): string => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
/** In milliseconds since 1970. */
const msOf = (time: string): string => `extract(epoch FROM ${time})::float8 * 1000`;

/** Hashes a key: text in PostgreSQL must not contain NUL, and an index cannot hold long text. */
export const keyOf = (key: string): Buffer => createHash('sha256').update(key).digest();

/** When a run is over, and its key is free; `greatest` ignores NULL. */
const OVER = 'CASE WHEN done THEN r.expires ELSE greatest(l.expires, unknown_until) END';
const IS_FREE = `${OVER} <= now()`;
const IS_UNKNOWN = 'NOT done AND l.expires <= now() AND unknown_until > now()';
const IS_OWN = 'r.token = $2::text';
const FACTS = 'cache_key, method, path, created, key_hash, caller_hash';

/**
 * Makes the steps on PostgreSQL, each one statement and so one atomic step. $1 is the key, $2 the token, $3
 * milliseconds.
 *
 * A step decides on rows that it has locked, in their newest version. It skips a row that another statement has locked,
 * so it never waits for a transaction of the application: one that has not committed yet, or a step. It returns a row
 * if there is a run of the key: `granted`, or what is there instead, locked or not.
 *
 * Time: `now()`, when the statement began, decides whether a lease has expired: a time that is too early never takes a
 * lease from its holder. A lease that is taken begins at `clock_timestamp()`, when it is written.
 */
export function statementsOn(named: (what: string) => string) {
  /** A row for each key: the run that has it, and whether it is done. */
  const runs = named('runs');
  /**
   * When the lease of a run ends. Renewals write here and nowhere else: a transaction of the application that marks its
   * run done reads no row that a renewal changes, so the two never fail each other at any isolation level.
   */
  const leases = named('leases');
  const responses = named('responses');
  const both = `FROM ${runs} r JOIN ${leases} l USING (key)`;
  const live = `WHEN done THEN 'done' WHEN ${IS_UNKNOWN} THEN 'unknown' ELSE 'running'`;
  const ends = 'CASE WHEN done THEN r.expires WHEN l.expires > now() THEN l.expires ELSE unknown_until END';
  const listed = `SELECT r.key, r.token, ${FACTS}, status,
  CASE WHEN ${IS_FREE} THEN 'over' ${live} END AS state, ${msOf(ends)} AS ends ${both}`;
  /** @param granted says for which run the step is granted. @param then is done with that, and is named `written`. */
  const step = (granted: string, then: string): string => `
WITH own AS (SELECT r.key ${both} WHERE r.key = $1::bytea AND (${granted}) FOR UPDATE SKIP LOCKED), ${then}
SELECT 'granted' AS state, $2 AS token, 0::float8 AS "msLeft" FROM written
UNION ALL SELECT state, token, greatest(0, ends - ${msOf('clock_timestamp()')}) FROM (${listed}) AS run
WHERE key = $1 AND NOT EXISTS (SELECT FROM written)`;
  /**
   * Writes both rows of a key: those that are locked, or new ones if there are none. (Not to look first, whether there
   * are, would wait for a transaction that has changed them.)
   */
  const write = (lease: string, columns: string, values: string, orNone = 'true'): string => `updated AS (
  UPDATE ${runs} AS r SET (token, ${columns}) = ($2, ${values}) FROM own WHERE r.key = own.key RETURNING r.key
), made AS (
  INSERT INTO ${runs} (key, token, ${columns}) SELECT $1, $2, ${values}
  WHERE ${orNone} AND NOT EXISTS (SELECT FROM ${runs} WHERE key = $1) ON CONFLICT DO NOTHING RETURNING key
), written AS (
  INSERT INTO ${leases} (key, token, expires)
  SELECT key, $2, ${lease} FROM (SELECT key FROM updated UNION ALL SELECT key FROM made) AS both_
  ON CONFLICT (key) DO UPDATE SET token = $2, expires = excluded.expires RETURNING key
)`;
  const remove = `gone AS (DELETE FROM ${leases} AS l USING own WHERE l.key = own.key),
written AS (DELETE FROM ${runs} AS r USING own WHERE r.key = own.key RETURNING r.key)`;
  const later = after('$3');
  const given = '$5::text, $6::text, $7::text, $8::float8, $9::text, $10::text';
  /** $4: status. The lease is not renewed any more. */
  const done = ["'epoch'", 'done, expires, unknown_until, status', `true, ${later}, NULL, $4::int`] as const;
  /** Deletes up to $1 expired runs. */
  const sweep = `
WITH gone AS (
  DELETE FROM ${runs} WHERE key IN (
    SELECT r.key ${both} WHERE r.expires <= now() AND ${IS_FREE} LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING key
)
DELETE FROM ${leases} WHERE key IN (SELECT key FROM gone) RETURNING key`;
  const dialect: Dialect = { responses, listed, sweep, now: 'now()', lock: 'FOR UPDATE SKIP LOCKED', after, keyOf };
  return {
    dialect,
    /** $4: milliseconds for which the run is unknown if its lease ends without a record, or null; $5 to $10: facts. */
    acquire: step(
      `${IS_FREE} OR ${IS_OWN} AND NOT done`,
      write(later, `done, expires, unknown_until, status, ${FACTS}`, `false, ${later}, ${after('$4')}, NULL, ${given}`),
    ),
    /** Returns a row if the token still holds the lease. */
    renew: `UPDATE ${leases} SET expires = ${later} WHERE key = $1::bytea AND token = $2::text AND expires > now()
RETURNING key`,
    /** An expired lease that no other token has taken may still be completed. */
    complete: step(`${IS_FREE} OR ${IS_OWN}`, write(...done)),
    release: step(`${IS_OWN} AND NOT (${IS_FREE})`, remove),
    /** These settle an unknown run. */
    ran: step(`${IS_OWN} AND ${IS_UNKNOWN}`, write(...done, 'false')),
    didNotRun: step(`${IS_OWN} AND ${IS_UNKNOWN}`, remove),
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
