import { statfsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isThenable, type Awaitable } from '../../../basics/awaitable';
import { objectWith } from '../../../options/check';
import { isUnknown, RecordLeases, type Decision, type HeldRun, type LeaseStore } from '../../leases/lease-store';
import type { RunFacts } from '../../leases/runs';
import { schemaWith, SqlDatabase, type Dialect } from '../sql';
import type { Store } from '../store';

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
  const file = new Database(typeof database === 'string' ? opened(database) : given(database));
  const leases = Object.assign(new SqliteLeases(file), file.ofLeases);
  return { leases, responses: file, close: file.close.bind(file) };
}

/** @throws TypeError for what is no database. */
function given(database: SqliteDatabase): SqliteDatabase {
  if (objectWith('', 'exec', 'prepare').accepts(database)) return database;
  const remedy = isThenable(database) ? ', not a promise: await it first' : '';
  throw new TypeError(`sqliteStore takes a path, or a database of node:sqlite or better-sqlite3${remedy}.`);
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

/** Returns the number of a version, as SQLite's own SQLITE_VERSION_NUMBER. */
const numberOf = (version: string): number => version.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);

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
  listed: `SELECT key, key AS cache_key, token, method, path, created, key_hash, caller_hash, status,
  CASE WHEN max(expires, unknown_until) <= now THEN 'over' WHEN done THEN 'done'
    WHEN expires > now THEN 'running' ELSE 'unknown' END AS state,
  CASE WHEN done OR expires > now THEN expires ELSE unknown_until END AS ends
FROM bindonce_1_runs, (SELECT ${NOW} AS now)`,
  sweep: `DELETE FROM bindonce_1_runs WHERE key IN (
  SELECT key FROM bindonce_1_runs, (SELECT ${NOW} AS now) WHERE expires <= now AND unknown_until <= now LIMIT $1
) RETURNING key`,
  now: NOW,
  lock: '',
  after: ms => `${NOW} + ${ms}`,
  keyOf: cacheKey => cacheKey,
};

const SCHEMA = schemaWith(['text', 'int', 'real'], what => `bindonce_1_${what}`);

/** A database, in which each step is one transaction. */
class Database extends SqlDatabase {
  private isReady = false;

  /** @throws Error for a database that cannot be shared, or does not keep anything. */
  constructor(private readonly database: SqliteDatabase) {
    super(DIALECT);
    // While it is opened, SQLite may wait: several processes can start at the same moment.
    database.exec(`PRAGMA busy_timeout = ${LONGEST_WAIT}`);
    const isSafe = this.check();
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK');
    } catch (cause) {
      const what = `sqliteStore: the file cannot be written (${String(cause)}). Check its path and permissions.`;
      if (!isBusy(cause)) throw new Error(what, { cause });
    }
    try {
      if (isSafe) database.exec('PRAGMA journal_mode = WAL');
    } catch {
      // Another process has the file, and sets it, too.
    }
    // From now on, it would stop the event loop while it waits.
    database.exec('PRAGMA busy_timeout = 0');
  }

  /** @returns whether WAL is safe. */
  private check(): boolean {
    const [found] = this.all(
      `SELECT file, sqlite_version() AS version, (SELECT journal_mode FROM pragma_journal_mode) AS mode
       FROM pragma_database_list WHERE name = 'main'`,
    );
    const { file, version, mode } = found as Readonly<Record<'file' | 'version' | 'mode', string>>;
    if (!file)
      throw new Error(
        'sqliteStore: this database is in memory, and ends with the process. Give it the path of a file.',
      );
    if (NETWORKED.has(statfsSync(file).type))
      throw new Error(`sqliteStore: ${file} is on a network, where locks of files do not hold. Use a local disk.`);
    const isSafe = numberOf(version) >= numberOf(WAL_IS_SAFE);
    if (mode === 'wal' && !isSafe)
      throw new Error(
        `sqliteStore: ${file} is in WAL mode, in which several processes may damage a file before SQLite ` +
          `${WAL_IS_SAFE}; this is ${version}. Run PRAGMA journal_mode = DELETE on it, or update SQLite.`,
      );
    return isSafe;
  }

  close(): void {
    this.database.close();
  }

  /** Runs a statement. @returns its rows. */
  all(sql: string, ...values: readonly unknown[]): readonly unknown[] {
    return this.database.prepare(sql).all(...(values as readonly string[]));
  }

  protected query(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    // better-sqlite3 takes `?1` and `$1` for names.
    return this.take(() => this.all(text.replace(/\$\d/g, '?'), ...values));
  }

  /**
   * Takes a step, which is one transaction. While another process has the file, also a reader that holds up a COMMIT,
   * the step is tried again.
   * @throws Error if the file stays locked, or cannot be written.
   */
  async take<T>(step: () => T): Promise<T> {
    const { database } = this;
    this.planSweep();
    for (const end = performance.now() + LONGEST_WAIT; ;) {
      try {
        database.exec('BEGIN IMMEDIATE');
        try {
          if (!this.isReady) database.exec(SCHEMA);
          const value = step();
          database.exec('COMMIT');
          this.isReady = true;
          return value;
        } catch (error) {
          database.exec('ROLLBACK');
          throw error;
        }
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (performance.now() > end)
          throw new Error(`sqliteStore: another process has had the file locked for ${LONGEST_WAIT} ms.`);
      }
      await pause(Math.random() * LONGEST_PAUSE);
    }
  }
}

/** Returns true for SQLITE_BUSY and SQLITE_LOCKED, as `node:sqlite` (`errcode`) and better-sqlite3 (`code`) say it. */
function isBusy(error: unknown): boolean {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown };
  return /^SQLITE_(?:BUSY|LOCKED)/.test(String(code)) || [5, 6].includes(Number(errcode) & 0xff);
}

/** A row of the table, which has the facts of its run. */
interface Row extends Omit<HeldRun, 'isDone' | 'about'>, RunFacts {
  readonly done: 0 | 1;
}

const READ = `SELECT token, done, expires, unknown_until AS unknownUntil, status, created, method, path,
  key_hash AS keyHash, caller_hash AS callerHash
FROM bindonce_1_runs WHERE key = ? AND max(expires, unknown_until) > ?`;

const WRITE = `INSERT OR REPLACE INTO bindonce_1_runs
  (key, token, done, expires, unknown_until, status, created, method, path, key_hash, caller_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`;

class SqliteLeases extends RecordLeases implements LeaseStore {
  constructor(private readonly database: Database) {
    super();
  }

  settle(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): Awaitable<boolean> {
    return this.step(key, (run, now, put) => {
      if (run?.token !== token || !isUnknown(run, now)) return false;
      put(outcome === 'ran' ? { ...run, isDone: true, expires: now + ms, unknownUntil: 0 } : undefined);
      return true;
    });
  }

  protected step<T>(key: string, decide: Decision<T>): Awaitable<T> {
    const { database } = this;
    return database.take(() => {
      const now = Date.now();
      const [row] = database.all(READ, key, now) as readonly Row[];
      return decide(row && { ...row, isDone: row.done === 1, about: row }, now, next => {
        if (!next) return database.all('DELETE FROM bindonce_1_runs WHERE key = ? RETURNING key', key);
        const { token, isDone, expires, unknownUntil, status = null, about } = next;
        const { created = now, method = null, path = null, keyHash = null, callerHash = null } = about ?? {};
        const run = [key, token, Number(isDone), expires, unknownUntil, status];
        return database.all(WRITE, ...run, created, method, path, keyHash, callerHash);
      });
    });
  }
}
