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
  return {
    /**
     * Returns `kind`, `token`, `ms_left`: of another's row, which is only read, as it was when the statement began; or
     * `acquired`. Returns no row if another statement has changed that meanwhile; then it is to be repeated.
     */
    acquire: `
WITH seen AS (
  SELECT token, done, expires FROM ${table}
  WHERE key = $1::bytea AND expires > now() AND (done OR token <> $2::text)
), acquired AS (
  INSERT INTO ${table} AS lease (key, token, done, expires)
  SELECT $1, $2, false, ${expiry} WHERE NOT EXISTS (SELECT FROM seen)
  ON CONFLICT (key) DO UPDATE SET token = $2, done = false, expires = ${expiry}
  WHERE lease.expires <= now() OR lease.token = $2 AND NOT lease.done
  RETURNING token
)
SELECT CASE WHEN done THEN 'done' ELSE 'running' END AS kind, token,
  (extract(epoch FROM expires - clock_timestamp()) * 1000)::float8 AS ms_left FROM seen
UNION ALL SELECT 'acquired', token, 0 FROM acquired`,

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
INSERT INTO ${table} AS lease (key, token, done, expires) VALUES ($1::bytea, $2::text, true, ${expiry})
ON CONFLICT (key) DO UPDATE SET token = $2, done = true, expires = ${expiry}
WHERE lease.token = $2 OR lease.expires <= now()
RETURNING token`,

    /** Returns a row if there was something to release. */
    release: `DELETE FROM ${table} WHERE key = $1::bytea AND token = $2::text AND expires > now() RETURNING token`,

    /** Deletes up to $1 expired rows, and returns them. Locked rows are left to the next sweep. */
    sweep: `
DELETE FROM ${table}
WHERE key IN (SELECT key FROM ${table} WHERE expires <= now() LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING done`,

    /** Two statements in one query are one transaction: there is no table without its index. */
    create: `
CREATE TABLE ${table} (
  key bytea PRIMARY KEY,
  token text NOT NULL,
  done boolean NOT NULL,
  expires timestamptz NOT NULL
);
CREATE INDEX ON ${table} (expires)`,
  } as const;
}
