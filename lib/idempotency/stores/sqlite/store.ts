import type { Awaitable } from '../../../basics/awaitable';
import { isUnknown, RecordLeases, type Decision, type HeldRun, type LeaseStore } from '../../leases/lease-store';
import type { RunFacts, RunPage, RunQuery, RunRecord } from '../../leases/runs';
import type { ResponseStore } from '../responses';
import { findRun, listRuns, responsesBy, type ListedRuns } from '../sql';
import type { Store } from '../store';
import { openSqlite, type Database, type SqliteDatabase } from './database';

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
export function sqliteStore(given: string | SqliteDatabase): SqliteStore {
  const database = openSqlite(given);
  return {
    leases: new SqliteLeases(database),
    responses: responsesIn(database),
    close: database.close.bind(database),
  };
}

/** A row of the table, which has the facts of its run. */
interface Row extends Omit<HeldRun, 'isDone' | 'about'>, RunFacts {
  readonly done: 0 | 1;
}

class SqliteLeases extends RecordLeases implements LeaseStore {
  private readonly runs: ListedRuns = {
    sql: RUNS,
    parameter: () => '?',
    select: (text, values) => this.database.take(() => this.database.all(text, Date.now(), ...(values as string[]))),
  };

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

  salt(): Awaitable<string> {
    const make = "INSERT OR IGNORE INTO bindonce_1_responses VALUES ('', 'salt', lower(hex(randomblob(16))), 9e15)";
    const read = "SELECT response FROM bindonce_1_responses WHERE key = '' AND token = 'salt'";
    return this.database.take(() => {
      this.database.run(make);
      return (this.database.get(read) as { readonly response: string }).response;
    });
  }

  list(query: RunQuery): Promise<RunPage> {
    return listRuns(query, this.runs);
  }

  get(key: string): Promise<RunRecord | undefined> {
    return findRun(key, this.runs);
  }

  protected step<T>(key: string, decide: Decision<T>): Awaitable<T> {
    return this.database.take(() => {
      const now = Date.now();
      const row = this.database.get(READ, key, now) as Row | undefined;
      return decide(row && { ...row, isDone: row.done === 1, about: row }, now, next => {
        if (!next) this.database.run('DELETE FROM bindonce_1_runs WHERE key = ?', key);
        else this.put(key, next);
      });
    });
  }

  private put(key: string, { token, isDone, expires, unknownUntil, status, about }: HeldRun): void {
    const { created = Date.now(), method = null, path = null, keyHash = null, callerHash = null } = about ?? {};
    const values = [key, token, Number(isDone), expires, unknownUntil, status ?? null];
    this.database.run(WRITE, ...values, created, method, path, keyHash, callerHash);
  }
}

const READ = `SELECT token, done, expires, unknown_until AS unknownUntil, status, created, method, path,
  key_hash AS keyHash, caller_hash AS callerHash
FROM bindonce_1_runs WHERE key = ? AND max(expires, unknown_until) > ?`;

const WRITE = `INSERT OR REPLACE INTO bindonce_1_runs
  (key, token, done, expires, unknown_until, status, created, method, path, key_hash, caller_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** The runs that have not expired at the time given; without facts, as of a purge, they are not listed. */
const RUNS = `SELECT key, iif(method IS NULL, NULL, key) AS cache_key, token,
  method, path, created, key_hash, caller_hash, status,
  CASE WHEN done THEN 'done' WHEN expires > now THEN 'running' ELSE 'unknown' END AS state,
  CASE WHEN done OR expires > now THEN expires ELSE unknown_until END AS ends
FROM bindonce_1_runs, (SELECT ? AS now) WHERE max(expires, unknown_until) > now`;

const responsesIn = (database: Database): ResponseStore =>
  responsesBy({
    read(key, token) {
      const sql = 'SELECT response FROM bindonce_1_responses WHERE key = ? AND token = ? AND expires > ?';
      return database.take(() => database.all(sql, key, token, Date.now()));
    },
    keep(key, token, ms, text) {
      const sql = 'INSERT OR REPLACE INTO bindonce_1_responses (key, token, response, expires) VALUES (?, ?, ?, ?)';
      return database.take(() => database.run(sql, key, token, text, Date.now() + ms));
    },
    remove(key, token) {
      const sql = 'DELETE FROM bindonce_1_responses WHERE key = ? AND token = ?';
      return database.take(() => database.run(sql, key, token));
    },
  });
