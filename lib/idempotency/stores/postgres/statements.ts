import type { Dialect } from '../sql';

/** The names of the three tables, quoted. */
export interface Tables {
  /** A row for each key: the run that has it, and whether it is done. */
  readonly runs: string;
  /**
   * When the lease of a run ends. Renewals write here and nowhere else: a transaction of the application that marks its
   * run done reads no row that a renewal changes, so the two never fail each other at any isolation level.
   */
  readonly leases: string;
  readonly responses: string;
}

/** Matches the names that {@link tablesOf} takes: PostgreSQL cuts off a name of more than 63 bytes. */
export const NAME = /^[a-z_][a-z0-9_]{0,49}$/i;

/** Names the tables. The number is the version of what is in them. */
export function tablesOf(prefix: string, schema?: string): Tables {
  const named = (what: string): string => `${schema === undefined ? '' : `"${schema}".`}"${prefix}1_${what}"`;
  return { runs: named('runs'), leases: named('leases'), responses: named('responses') };
}

/** Several statements in one query are one transaction: there is no table without the others. */
export const ddl = ({ runs, leases, responses }: Tables): string => `CREATE TABLE ${runs} (
  key bytea PRIMARY KEY, token text NOT NULL, done boolean NOT NULL, expires timestamptz NOT NULL,
  unknown_until timestamptz, cache_key text, method text, path text, created float8, key_hash text, caller_hash text,
  status int
);
CREATE INDEX ON ${runs} (expires);
CREATE INDEX ON ${runs} (created);
CREATE INDEX ON ${runs} (key_hash);
CREATE TABLE ${leases} (key bytea PRIMARY KEY, token text NOT NULL, expires timestamptz NOT NULL);
CREATE TABLE ${responses} (
  key bytea, token text, response text NOT NULL, expires timestamptz NOT NULL, PRIMARY KEY (key, token)
);
CREATE INDEX ON ${responses} (expires);`;

const after = (ms: string): string => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;

/**
 * Makes the steps on PostgreSQL, each one statement and so one atomic step. $1 is the key, $2 the token, $3
 * milliseconds.
 *
 * A step decides on rows that it has locked, in their newest version. It skips a row that another statement has locked,
 * so it never waits for a transaction of the application. It returns a row with `kind` if there is a run of the key:
 * `granted`, or what is there instead, with its `token` and `ms_left`; `locked` is true if the step would be granted,
 * but another statement has the row: a transaction of the application that has not committed yet, or a step.
 *
 * Time: `now()`, when the statement began, decides whether a lease has expired: a time that is too early never takes a
 * lease from its holder. A lease that is taken begins at `clock_timestamp()`, when it is written.
 */
export function statementsOn({ runs, leases }: Tables) {
  const here = `FROM ${runs} r JOIN ${leases} l USING (key) WHERE r.key = $1::bytea`;
  /** `greatest` ignores NULL. */
  const isFree = 'CASE WHEN r.done THEN r.expires ELSE greatest(l.expires, r.unknown_until) END <= now()';
  const isUnknown = 'NOT r.done AND l.expires <= now() AND r.unknown_until > now()';
  const isOwn = 'r.token = $2::text';
  const later = after('$3');
  /** @param granted says for which run the step is granted. @param then is done with that, and is named `written`. */
  const step = (granted: string, then: string): string => `
WITH seen AS (
  SELECT r.token, r.done AND NOT (${isFree}) AS done, l.expires, ${isUnknown} AS is_unknown, ${granted} AS granted
  ${here}
), own AS (
  SELECT r.key ${here} AND (${granted}) FOR UPDATE SKIP LOCKED
), ${then}
SELECT 'granted' AS kind, $2 AS token, 0::float8 AS ms_left, false AS locked FROM written
UNION ALL
SELECT CASE WHEN done THEN 'done' WHEN is_unknown THEN 'unknown' ELSE 'running' END, token,
  greatest(0, extract(epoch FROM expires - clock_timestamp()) * 1000)::float8, granted
FROM seen WHERE NOT EXISTS (SELECT FROM written)`;
  /** Writes both rows of a key: those that are locked, or new ones if there are none. */
  const write = (lease: string, columns: string, values: string): string => `updated AS (
  UPDATE ${runs} AS r SET (token, ${columns}) = ($2, ${values}) FROM own WHERE r.key = own.key RETURNING r.key
), made AS (
  INSERT INTO ${runs} (key, token, ${columns}) SELECT $1, $2, ${values} WHERE NOT EXISTS (SELECT FROM seen)
  ON CONFLICT DO NOTHING RETURNING key
), written AS (
  INSERT INTO ${leases} (key, token, expires)
  SELECT key, $2, ${lease} FROM (SELECT key FROM updated UNION ALL SELECT key FROM made) AS both_
  ON CONFLICT (key) DO UPDATE SET token = $2, expires = excluded.expires RETURNING key
)`;
  const remove = `gone AS (DELETE FROM ${leases} AS l USING own WHERE l.key = own.key),
written AS (DELETE FROM ${runs} AS r USING own WHERE r.key = own.key RETURNING r.key)`;
  const facts = 'cache_key, method, path, created, key_hash, caller_hash';
  const given = '$5::text, $6::text, $7::text, $8::float8, $9::text, $10::text';
  return {
    /** $4: milliseconds for which the run is unknown if its lease ends without a record, or null; $5 to $10: facts. */
    acquire: step(
      `${isFree} OR ${isOwn} AND NOT r.done`,
      write(later, `done, expires, unknown_until, status, ${facts}`, `false, ${later}, ${after('$4')}, NULL, ${given}`),
    ),
    /** Returns a row if the token still holds the lease. */
    renew: `
UPDATE ${leases} SET expires = ${later} WHERE key = $1::bytea AND token = $2::text AND expires > now()
RETURNING key`,
    /** $4: status. An expired lease that no other token has taken may still be completed; it is not renewed then. */
    complete: step(
      `${isFree} OR ${isOwn}`,
      write("'epoch'", 'done, expires, unknown_until, status', `true, ${later}, NULL, $4::int`),
    ),
    release: step(`${isOwn} AND NOT (${isFree})`, remove),
    /** These settle an unknown run. */
    ran: step(
      `${isOwn} AND ${isUnknown}`,
      `written AS (
  UPDATE ${runs} AS r SET done = true, expires = ${later}, unknown_until = NULL FROM own WHERE r.key = own.key
  RETURNING r.key
)`,
    ),
    didNotRun: step(`${isOwn} AND ${isUnknown}`, remove),
  } as const;
}

/**
 * Makes the statement that marks a run done and keeps its response, in a transaction of the application: it returns a
 * row if the token still has the key. It has neither `?` nor `:`, which query builders take for parameters, and all its
 * values are text, which every driver sends as it is; each is named once, in order. The response outlives the
 * record, which is read first.
 */
export const commitOn = ({ runs, responses }: Tables): string => `
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
RETURNING token`;

export const dialectOf = ({ runs, leases, responses }: Tables): Dialect => {
  const ends = 'CASE WHEN done THEN r.expires WHEN l.expires > now() THEN l.expires ELSE unknown_until END';
  const last = 'CASE WHEN done THEN r.expires ELSE greatest(l.expires, unknown_until) END';
  return {
    responses,
    listed: `SELECT r.key, cache_key, r.token, method, path, created, key_hash, caller_hash, status,
  CASE WHEN done THEN 'done' WHEN l.expires > now() THEN 'running' ELSE 'unknown' END AS state,
  extract(epoch FROM ${ends})::float8 * 1000 AS ends
FROM ${runs} r JOIN ${leases} l USING (key) WHERE ${last} > now()`,
    sweep: `
WITH gone AS (
  DELETE FROM ${runs} WHERE key IN (
    SELECT r.key FROM ${runs} r JOIN ${leases} l USING (key)
    WHERE r.expires <= now() AND ${last} <= now() LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING key
)
DELETE FROM ${leases} WHERE key IN (SELECT key FROM gone) RETURNING key`,
    now: 'now()',
    lock: 'FOR UPDATE SKIP LOCKED',
    after,
  };
};
