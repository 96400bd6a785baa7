import { statfsSync } from 'node:fs';
import { objectWith } from '../../../options/check';
import {
  deleteRuns,
  insertRun,
  isAsSeen,
  LONGEST_WAIT,
  schemaWith,
  SqlLeases,
  SqlResponses,
  type Dialect,
} from '../sql';
import type { Store } from '../store';

/** The part of a database of `node:sqlite` or of better-sqlite3 that bindonce uses. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...values: readonly unknown[]): unknown;
    all(...values: readonly unknown[]): unknown[];
    run(...values: readonly unknown[]): { readonly changes: number | bigint };
  };
  close(): void;
}

/** Leases and responses in a file, which survive a restart. */
export interface SqliteStore extends Store {
  /** Closes the database. Steps that come later fail. */
  close(): void;
}

/**
 * Makes a store in a file: for the processes of one machine. A process that finds the file locked tries again, and
 * never holds up its event loop for another. Requests that wait for one that runs poll ten times a second.
 * @param database a path, which `node:sqlite` opens (Node 22.13 or later), or a database of `node:sqlite` or
 * better-sqlite3, which is the store's alone.
 * @throws TypeError for anything else; Error for a database in memory, on a network, or whose mode is not safe.
 */
export function sqliteStore(database: string | SqliteDatabase): SqliteStore {
  const given = typeof database === 'string' ? opened(database) : database;
  if (!objectWith('', 'exec', 'prepare').accepts(given))
    throw new TypeError('sqliteStore takes a path, or a database of node:sqlite or better-sqlite3.');
  prepare(given);
  let isMade = false;
  const responses = new SqlResponses({
    ...DIALECT,
    writeRun: `${insertRun(DIALECT, 'true', isAsSeen(DIALECT))} RETURNING 'written' AS state`,
    renewRun: `UPDATE ${named('runs')} SET expires = ${NOW} + $1
WHERE key = $2 AND token = $3 AND NOT done AND expires > ${NOW} RETURNING key`,
    sweepRuns: deleteRuns(DIALECT),
    // Both drivers bind `$1` by its name; a column without a value is null.
    run(text, values) {
      if (!isMade) given.exec(schemaWith('text', named));
      isMade = true;
      return given.prepare(text).all(Object.fromEntries(values.map((value, index) => [index + 1, value ?? null])));
    },
    mayTryAgain: isBusy,
  });
  return { leases: new SqlLeases(responses), responses, close: given.close.bind(given) };
}

/** @throws Error for a path that cannot be opened. */
function opened(path: string): SqliteDatabase {
  // Not imported: older Nodes do not have it.
  const sqlite = process.getBuiltinModule('node:sqlite') as
    { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined;
  if (!sqlite)
    throw new Error(
      `sqliteStore(path) needs node:sqlite, which Node ${process.version} does not have; Node 22.13 has. Or pass a ` +
        'database: sqliteStore(new Database(path)), with Database of better-sqlite3.',
    );
  try {
    return new sqlite.DatabaseSync(path);
  } catch (cause) {
    const what = `sqliteStore: ${path} cannot be opened (${String(cause)}). Check the path and its permissions.`;
    throw new Error(what, { cause });
  }
}

/** From this version of SQLite on, several processes may write to a file in WAL mode without damage to it. */
const WAL_IS_SAFE = '3.51.3';

/** Types of file systems on which locks do not hold between machines (statfs(2)): NFS, SMB, CIFS, SMB 2. */
const NETWORKED = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** Milliseconds since 1970. */
const NOW = "((julianday('now') - 2440587.5) * 86400000)";

const named = (what: string): string => `bindonce_1_${what}`;

const DIALECT: Dialect = {
  named,
  from: `${named('runs')} AS r`,
  lease: 'r.expires',
  version: "(r.token || ' ' || r.expires)",
  now: NOW,
  lock: '',
  after: ms => `${NOW} + ${ms}`,
  until: time => `${time} - ${NOW}`,
  keyOf: cacheKey => cacheKey,
};

/** Prepares a database. @throws Error for one that cannot be shared, or does not keep anything. */
function prepare(database: SqliteDatabase): void {
  // While it is opened, SQLite may wait: several processes can start at the same moment.
  database.exec(`PRAGMA busy_timeout = ${LONGEST_WAIT}`);
  const isSafe = isWalSafe(database);
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    if (isSafe) database.exec('PRAGMA journal_mode = WAL');
  } catch (cause) {
    // Another process has the file, and sets the mode, too. Steps try again until they have made the tables.
    const what = `sqliteStore: the file cannot be written (${String(cause)}). Check its path and permissions.`;
    if (!isBusy(cause)) throw new Error(what, { cause });
  }
  // From now on, it would stop the event loop while it waits.
  database.exec('PRAGMA busy_timeout = 0');
}

/**
 * @returns whether a database may have the WAL mode.
 * @throws Error for one that must not be shared, or does not keep anything.
 */
function isWalSafe(database: SqliteDatabase): boolean {
  const sql = `SELECT file, sqlite_version() AS version, (SELECT journal_mode FROM pragma_journal_mode) AS mode
FROM pragma_database_list WHERE name = 'main'`;
  const { file, version, mode } = database.prepare(sql).get() as Readonly<Record<'file' | 'version' | 'mode', string>>;
  const isSafe = version.localeCompare(WAL_IS_SAFE, 'en', { numeric: true }) >= 0;
  let refusal: string | undefined;
  if (!file) refusal = 'this database is in memory, and ends with the process. Give it the path of a file.';
  else if (NETWORKED.has(statfsSync(file).type))
    refusal = `${file} is on a network, where locks of files do not hold. Use a local disk.`;
  else if (mode === 'wal' && !isSafe)
    refusal =
      `${file} is in WAL mode, in which several processes may damage a file before SQLite ${WAL_IS_SAFE}; this is ` +
      `${version}. Run PRAGMA journal_mode = DELETE on it, or update SQLite.`;
  if (refusal !== undefined) throw new Error(`sqliteStore: ${refusal}`);
  return isSafe;
}

/**
 * Returns true for SQLITE_BUSY and SQLITE_LOCKED, as `node:sqlite` (`errcode`) and better-sqlite3 (`code`) say it:
 * another process has the file, maybe a reader that holds up a COMMIT.
 */
function isBusy(error: unknown): boolean {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown };
  return /^SQLITE_(?:BUSY|LOCKED)/.test(String(code)) || [5, 6].includes(Number(errcode) & 0xff);
}
