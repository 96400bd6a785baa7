/** The channel of the notifications that a run has ended, for all tables of a database; the payload is the key. */
export const CHANNEL = 'bindonce_leases';

/**
 * Makes the steps on PostgreSQL, each one statement and so one atomic step: it decides on the newest row, which it has
 * locked. $1 is the key, $2 the token, $3 milliseconds.
 *
 * Time: `now()`, when the statement began, decides whether a lease has expired, however long the statement then waits
 * for the row: a time that is too early never takes a lease from its holder. A lease that is taken begins at
 * `clock_timestamp()`, when it is written: the wait is not part of it. (A renewal may begin when it was asked for: its
 * holder counts from then.)
 */
export function statementsOn(table: string) {
  const expiry = "clock_timestamp() + $3::float8 * interval '1 millisecond'";
  const isFree = '(lease.expires <= now() OR lease.token = $2 AND NOT lease.done)';
  // A notification takes a lock on the whole server, so it is sent only if a request waits.
  const notify = `CASE WHEN awaited THEN pg_notify('${CHANNEL}', encode($1::bytea, 'hex')) END`;
  return {
    /**
     * Returns `kind`, `token`, `ms_left`. A record, or a lease that is awaited already, is only read: the answer was
     * true when the statement began. Everything else is an upsert that always writes, since only a written row can be
     * returned.
     */
    acquire: `
WITH seen AS (
  SELECT token, done, expires FROM ${table}
  WHERE key = $1::bytea AND expires > now() AND (done OR awaited AND token <> $2::text)
), written AS (
  INSERT INTO ${table} AS lease (key, token, done, awaited, expires)
  SELECT $1, $2, false, false, ${expiry} WHERE NOT EXISTS (SELECT FROM seen)
  ON CONFLICT (key) DO UPDATE SET
    token = CASE WHEN ${isFree} THEN $2 ELSE lease.token END,
    done = NOT ${isFree} AND lease.done,
    awaited = NOT ${isFree} OR lease.awaited,
    expires = CASE WHEN ${isFree} THEN ${expiry} ELSE lease.expires END
  RETURNING token, done, expires
)
SELECT CASE WHEN done THEN 'done' WHEN token = $2 THEN 'acquired' ELSE 'running' END AS kind, token,
  (extract(epoch FROM expires - clock_timestamp()) * 1000)::float8 AS ms_left
FROM (SELECT * FROM seen UNION ALL SELECT * FROM written) AS lease`,

    /**
     * Marks the key as awaited, so that a notification is sent when its run ends. If there is no row yet, inserts an
     * expired one that carries the mark.
     */
    markAwaited: `
INSERT INTO ${table} AS lease (key, token, done, awaited, expires)
SELECT $1::bytea, '', false, true, '-infinity' WHERE NOT EXISTS (SELECT FROM ${table} WHERE key = $1 AND awaited)
ON CONFLICT (key) DO UPDATE SET awaited = true`,

    /** Returns a row if the token still holds the lease. */
    renew: `
UPDATE ${table} SET expires = ${expiry}
WHERE key = $1::bytea AND token = $2::text AND NOT done AND expires > now()
RETURNING token`,

    /**
     * Returns a row if the run is done. A lease that has expired, but that no other token has taken, may still be
     * completed.
     */
    complete: `
WITH completed AS (
  INSERT INTO ${table} AS lease (key, token, done, awaited, expires)
  VALUES ($1::bytea, $2::text, true, false, ${expiry})
  ON CONFLICT (key) DO UPDATE SET token = $2, done = true, expires = ${expiry}
  WHERE lease.token = $2 OR lease.expires <= now()
  RETURNING awaited
)
SELECT ${notify} FROM completed`,

    /** Returns a row if there was something to release. */
    release: `
WITH released AS (
  DELETE FROM ${table} WHERE key = $1::bytea AND token = $2::text AND expires > now() RETURNING awaited
)
SELECT ${notify} FROM released`,

    /** Deletes up to $1 expired rows, and returns their number, `swept`. Locked rows are left to the next sweep. */
    sweep: `
WITH expired AS (
  SELECT key FROM ${table} WHERE expires <= now() LIMIT $1 FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM ${table} AS lease USING expired WHERE lease.key = expired.key RETURNING 1
)
SELECT count(*)::int AS swept FROM deleted`,

    /** Two statements in one query are one transaction: there is no table without its index. */
    create: `
CREATE TABLE ${table} (
  key bytea PRIMARY KEY,
  token text NOT NULL,
  done boolean NOT NULL,
  awaited boolean NOT NULL,
  expires timestamptz NOT NULL
);
CREATE INDEX ON ${table} (expires)`,
  } as const;
}
