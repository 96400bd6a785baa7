import { statfsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isThenable, type Awaitable } from '../../../basics/awaitable';
import { SqlDatabase, type Dialect } from '../sql';

type Value = string | number | null;

/** The part of a database of `node:sqlite` or of better-sqlite3 that bindonce uses. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...values: readonly Value[]): unknown;
    all(...values: readonly Value[]): unknown[];
    run(...values: readonly Value[]): { readonly changes: number | bigint };
  };
  close(): void;
}

/** From this version of SQLite on, several processes may write to a file in WAL mode without damage to it. */
const WAL_IS_SAFE = '3.51.3';

/** Types of file systems on which locks do not hold between machines (statfs(2)): NFS, SMB, CIFS, SMB 2. */
const NETWORKED = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** Milliseconds after which a step has failed that finds the file locked each time. */
const LONGEST_WAIT = 10_000;
/** Milliseconds between two tries, at most: random, so that processes do not meet again. */
const LONGEST_PAUSE = 20;

/** Milliseconds since 1970. */
const NOW = "((julianday('now') - 2440587.5) * 86400000)";

const DIALECT: Dialect = {
  responses: 'bindonce_1_responses',
  // Runs without facts, as that of a purge, are not listed.
  listed: `SELECT key, iif(method IS NULL, NULL, key) AS cache_key, token,
  method, path, created, key_hash, caller_hash, status,
  CASE WHEN done THEN 'done' WHEN expires > now THEN 'running' ELSE 'unknown' END AS state,
  CASE WHEN done OR expires > now THEN expires ELSE unknown_until END AS ends
FROM bindonce_1_runs, (SELECT ${NOW} AS now) WHERE max(expires, unknown_until) > now`,
  sweep: `DELETE FROM bindonce_1_runs WHERE key IN (
  SELECT key FROM bindonce_1_runs, (SELECT ${NOW} AS now) WHERE expires <= now AND unknown_until <= now LIMIT $1
) RETURNING key`,
  now: NOW,
  lock: '',
  after: ms => `${NOW} + ${ms}`,
};

const SCHEMA = `
CREATE TABLE IF NOT EXISTS bindonce_1_runs (
  key TEXT PRIMARY KEY, token TEXT NOT NULL, done INTEGER NOT NULL, expires REAL NOT NULL,
  unknown_until REAL NOT NULL, created REAL NOT NULL, method TEXT, path TEXT, key_hash TEXT, caller_hash TEXT,
  status INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS bindonce_1_runs_expires ON bindonce_1_runs (expires);
CREATE INDEX IF NOT EXISTS bindonce_1_runs_created ON bindonce_1_runs (created);
CREATE INDEX IF NOT EXISTS bindonce_1_runs_key_hash ON bindonce_1_runs (key_hash);
CREATE TABLE IF NOT EXISTS bindonce_1_responses (
  key TEXT, token TEXT, response TEXT NOT NULL, expires REAL NOT NULL, PRIMARY KEY (key, token)
);
CREATE INDEX IF NOT EXISTS bindonce_1_responses_expires ON bindonce_1_responses (expires);`;

/** Returns a database of the application. @throws TypeError for anything else. */
function given(database: unknown): SqliteDatabase {
  const { exec, prepare } = Object(database) as Partial<SqliteDatabase>;
  if (typeof exec === 'function' && typeof prepare === 'function') return database as SqliteDatabase;
  const remedy = isThenable(database) ? ', not a promise: await it first' : '';
  throw new TypeError(`sqliteStore takes a path, or a database of node:sqlite or better-sqlite3${remedy}.`);
}

/** @throws Error for a path that cannot be opened. */
function opened(path: string): SqliteDatabase {
  // Not imported: older Nodes do not have it.
  const sqlite = process.getBuiltinModule('node:sqlite') as
    { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined;
  try {
    if (sqlite) return new sqlite.DatabaseSync(path);
  } catch (cause) {
    const what = `sqliteStore: ${path} cannot be opened (${String(cause)}). Check the path and its permissions.`;
    throw new Error(what, { cause });
  }
  throw new Error(
    `sqliteStore(path) needs node:sqlite, which Node ${process.version} does not have; Node 22.13 has. Or pass a ` +
      'database: sqliteStore(new Database(path)), with Database of better-sqlite3.',
  );
}

/** A database, in which each step is one transaction. */
export class Database extends SqlDatabase {
  private readonly database: SqliteDatabase;
  private isReady = false;

  /** @throws TypeError for what is no database; Error for one that cannot be shared, or does not keep anything. */
  constructor(path: string | SqliteDatabase) {
    super(DIALECT);
    const database = typeof path === 'string' ? opened(path) : given(path);
    this.database = database;
    // While it is opened, SQLite may wait: several processes can start at the same moment.
    database.exec(`PRAGMA busy_timeout = ${LONGEST_WAIT}`);
    const [main] = this.all("SELECT file FROM pragma_database_list WHERE name = 'main'");
    const { file } = main as { readonly file: string | null };
    if (!file)
      throw new Error(
        'sqliteStore: this database is in memory, and ends with the process. Give it the path of a file.',
      );
    if (NETWORKED.has(statfsSync(file).type))
      throw new Error(`sqliteStore: ${file} is on a network, where locks of files do not hold. Use a local disk.`);
    this.setJournal(file);
    try {
      // Makes the tables, so that a file that cannot be written is found now; if it is locked, the first step does it.
      this.attempt(() => undefined);
    } catch (cause) {
      const what = `sqliteStore: the file cannot be written (${String(cause)}). Check its path and permissions.`;
      throw new Error(what, { cause });
    }
    // From now on, it would stop the event loop while it waits.
    database.exec('PRAGMA busy_timeout = 0');
  }

  /**
   * Takes a step, which is one transaction. While another process has the file, the step is tried again.
   * @throws Error if the file stays locked, or cannot be written.
   */
  take<T>(step: () => T): Awaitable<T> {
    const first = this.attempt(step);
    return first ? first.value : this.takeLater(step);
  }

  close(): void {
    this.database.close();
  }

  /** Runs a statement. @returns its rows. */
  all(sql: string, ...values: readonly unknown[]): readonly unknown[] {
    return this.database.prepare(sql).all(...(values as readonly Value[]));
  }

  protected query(text: string, values: readonly unknown[]): Awaitable<readonly unknown[]> {
    // better-sqlite3 takes `?1` and `$1` for names.
    return this.take(() => this.all(text.replace(/\$\d/g, '?'), ...values));
  }

  protected keyOf(cacheKey: string): string {
    return cacheKey;
  }

  private async takeLater<T>(step: () => T): Promise<T> {
    for (const end = performance.now() + LONGEST_WAIT; performance.now() < end;) {
      await pause(Math.random() * LONGEST_PAUSE);
      const done = this.attempt(step);
      if (done) return done.value;
    }
    throw new Error(`sqliteStore: another process has had the file locked for ${LONGEST_WAIT} ms.`);
  }

  /** @returns undefined if another process has the file. */
  private attempt<T>(step: () => T): { readonly value: T } | undefined {
    const { database } = this;
    this.planSweep();
    try {
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
    try {
      if (!this.isReady) database.exec(SCHEMA);
      const value = step();
      database.exec('COMMIT');
      this.isReady = true;
      return { value };
    } catch (error) {
      database.exec('ROLLBACK');
      // A reader may hold up a COMMIT.
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  private setJournal(file: string): void {
    const [found] = this.all('SELECT sqlite_version() AS version, journal_mode AS mode FROM pragma_journal_mode');
    const { version, mode } = found as { readonly version: string; readonly mode: string };
    const isSafe = numberOf(version) >= numberOf(WAL_IS_SAFE);
    if (mode === 'wal' && !isSafe)
      throw new Error(
        `sqliteStore: ${file} is in WAL mode, in which several processes may damage a file before SQLite ` +
          `${WAL_IS_SAFE}; this is ${version}. Run PRAGMA journal_mode = DELETE on it, or update SQLite.`,
      );
    try {
      if (isSafe) this.all('PRAGMA journal_mode = WAL');
    } catch (error) {
      // Another process has the file, and sets it, too.
      if (!isBusy(error)) throw error;
    }
  }
}

/** Returns true for SQLITE_BUSY and SQLITE_LOCKED, as `node:sqlite` (`errcode`) and better-sqlite3 (`code`) say it. */
function isBusy(error: unknown): boolean {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown };
  return /^SQLITE_(?:BUSY|LOCKED)/.test(String(code)) || [5, 6].includes(Number(errcode) & 0xff);
}

/** Returns the number of a version, as SQLite's own SQLITE_VERSION_NUMBER. */
const numberOf = (version: string): number => version.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
