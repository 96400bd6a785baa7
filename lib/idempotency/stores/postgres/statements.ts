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

/**
 * Makes the steps on PostgreSQL, each one statement and so one atomic step. $1 is the key, $2 the token, $3
 * milliseconds.
 *
 * A step decides on rows that it has locked, in their newest version. It skips a row that another statement has locked,
 * so it never waits for a transaction of the application; such a row counts as running, or the step returns no row and
 * is to be repeated.
 *
 * Time: `now()`, when the statement began, decides whether a lease has expired: a time that is too early never takes a
 * lease from its holder. A lease that is taken begins at `clock_timestamp()`, when it is written.
 */
export function statementsOn({ runs, leases, responses }: Tables) {
  const after = (ms: string): string => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`;
  const here = `FROM ${runs} r JOIN ${leases} l USING (key) WHERE r.key = $1::bytea`;
  /** `greatest` ignores NULL. */
  const isFree = 'CASE WHEN r.done THEN r.expires ELSE greatest(l.expires, r.unknown_until) END <= now()';
  const isUnknown = 'NOT r.done AND l.expires <= now() AND r.unknown_until > now()';
  /** Writes both rows of a key: that of the rows in `free`, or new ones if there are none. */
  const write = (lease: string, run: Readonly<Record<string, string>>): string => `
updated AS (
  UPDATE ${runs} AS r SET token = $2, ${Object.entries(run)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ')}
  FROM free WHERE r.key = free.key RETURNING r.key
), made AS (
  INSERT INTO ${runs} (key, token, ${Object.keys(run).join(', ')})
  SELECT $1, $2, ${Object.values(run).join(', ')} WHERE NOT EXISTS (SELECT FROM seen)
  ON CONFLICT DO NOTHING RETURNING key
), written AS (
  INSERT INTO ${leases} AS l (key, token, expires)
  SELECT key, $2, ${lease} FROM (SELECT key FROM updated UNION ALL SELECT key FROM made) AS both_
  ON CONFLICT (key) DO UPDATE SET token = $2, expires = excluded.expires RETURNING key
)`;
  const acquired = {
    ...{ done: 'false', expires: after('$3'), unknown_until: after('$4'), status: 'NULL::int' },
    ...{ cache_key: '$5::text', method: '$6::text', path: '$7::text', created: '$8::float8' },
    ...{ key_hash: '$9::text', caller_hash: '$10::text' },
  };
  const completed = { done: 'true', expires: after('$3'), unknown_until: 'NULL::timestamptz', status: '$4::int' };
  /** Locks the rows of the token. */
  const own = (condition: string): string => `
WITH seen AS (SELECT ${here} AND r.token = $2::text AND ${condition}),
own AS (SELECT r.key ${here} AND r.token = $2 AND ${condition} FOR UPDATE SKIP LOCKED)`;
  const gone = `
gone AS (DELETE FROM ${runs} AS r USING own WHERE r.key = own.key),
lease AS (DELETE FROM ${leases} AS l USING own WHERE l.key = own.key)`;
  const answer = 'SELECT true AS answer FROM own UNION ALL SELECT false WHERE NOT EXISTS (SELECT FROM seen)';
  return {
    /**
     * Returns `kind`, `token`, `ms_left` of another's run, or `acquired`. `locked` is true if the token could have it,
     * but another statement has the row: a transaction of the application that has not committed yet, or a step.
     * $4: milliseconds for which the run is unknown if its lease ends without a record, or null; $5 to $10: facts.
     */
    acquire: `
WITH seen AS (
  SELECT r.token, r.done, l.expires, ${isFree} AS is_free, ${isUnknown} AS is_unknown ${here}
), free AS (
  SELECT r.key ${here} AND (${isFree} OR r.token = $2::text AND NOT r.done) FOR UPDATE SKIP LOCKED
), ${write(after('$3'), acquired)}
SELECT 'acquired' AS kind, $2 AS token, 0::float8 AS ms_left, false AS locked FROM written
UNION ALL
SELECT CASE WHEN done AND NOT is_free THEN 'done' WHEN is_unknown THEN 'unknown' ELSE 'running' END, token,
  greatest(0, extract(epoch FROM expires - clock_timestamp()) * 1000)::float8,
  is_free OR token = $2 AND NOT done
FROM seen WHERE NOT EXISTS (SELECT FROM written)`,

    /** Returns a row if the token still holds the lease. */
    renew: `
UPDATE ${leases} SET expires = ${after('$3')}
WHERE key = $1::bytea AND token = $2::text AND expires > now() RETURNING true AS answer`,

    /** $4: status. Returns whether the run is done. An expired lease that no other has taken may still be completed. */
    complete: `
WITH seen AS (SELECT r.token = $2::text OR ${isFree} AS is_free ${here}),
free AS (SELECT r.key ${here} AND (r.token = $2 OR ${isFree}) FOR UPDATE SKIP LOCKED),
${write("'epoch'", completed)}
SELECT true AS answer FROM written UNION ALL SELECT false FROM seen WHERE NOT is_free`,

    /** Returns whether there was a lease or a record of the token, or whether its run was unknown. */
    release: `${own(`NOT (${isFree})`)}, ${gone} ${answer}`,

    /** These settle an unknown run, and return whether there was one. */
    ran: `${own(isUnknown)}, done AS (
  UPDATE ${runs} AS r SET done = true, expires = ${after('$3')}, unknown_until = NULL FROM own WHERE r.key = own.key
) ${answer}`,
    didNotRun: `${own(isUnknown)}, ${gone} ${answer}`,

    /** Makes the salt where there is none, also after the tables were emptied; no row if another makes it just now. */
    salt: `
WITH made AS (
  INSERT INTO ${responses} (key, token, response, expires) VALUES ('', 'salt', gen_random_uuid(), 'infinity')
  ON CONFLICT DO NOTHING RETURNING response
)
SELECT response FROM made UNION ALL SELECT response FROM ${responses} WHERE key = '' AND token = 'salt'`,

    read: `SELECT response FROM ${responses} WHERE key = $1::bytea AND token = $2::text AND expires > now()`,

    /** $3: milliseconds, $4: the response. */
    keep: `
INSERT INTO ${responses} (key, token, response, expires) VALUES ($1::bytea, $2::text, $4::text, ${after('$3')})
ON CONFLICT (key, token) DO UPDATE SET response = $4, expires = excluded.expires`,

    remove: `DELETE FROM ${responses} WHERE key = $1::bytea AND token = $2::text`,

    /** Deletes up to $1 expired runs. */
    sweepRuns: `
WITH gone AS (
  DELETE FROM ${runs} WHERE key IN (
    SELECT r.key FROM ${runs} r JOIN ${leases} l USING (key)
    WHERE r.expires <= now() AND ${isFree} LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING key
)
DELETE FROM ${leases} WHERE key IN (SELECT key FROM gone) RETURNING true AS answer`,

    /** Deletes up to $1 expired responses. */
    sweepResponses: `
DELETE FROM ${responses} WHERE (key, token) IN (
  SELECT key, token FROM ${responses} WHERE expires <= now() LIMIT $1 FOR UPDATE SKIP LOCKED
) RETURNING true AS answer`,
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

/** The runs that have not expired; times in milliseconds since 1970. */
export const listedRuns = ({ runs, leases }: Tables): string => {
  const ms = (time: string): string => `extract(epoch FROM ${time})::float8 * 1000`;
  return `SELECT r.key, cache_key, r.token, method, path, created, key_hash, caller_hash, status,
  CASE WHEN done THEN 'done' WHEN l.expires > now() THEN 'running' ELSE 'unknown' END AS state,
  ${ms('CASE WHEN done THEN r.expires WHEN l.expires > now() THEN l.expires ELSE unknown_until END')} AS ends
FROM ${runs} r JOIN ${leases} l USING (key)
WHERE CASE WHEN done THEN r.expires ELSE greatest(l.expires, unknown_until) END > now()`;
};
