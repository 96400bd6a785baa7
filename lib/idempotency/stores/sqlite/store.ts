import type { Awaitable } from '../../../basics/awaitable';
import { isUnknown, RecordLeases, type Decision, type HeldRun, type LeaseStore } from '../../leases/lease-store';
import type { RunFacts } from '../../leases/runs';
import type { Store } from '../store';
import { Database, type SqliteDatabase } from './database';

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
  const file = new Database(database);
  const leases = Object.assign(new SqliteLeases(file), file.ofLeases);
  return { leases, responses: file, close: file.close.bind(file) };
}

/** A row of the table, which has the facts of its run. */
interface Row extends Omit<HeldRun, 'isDone' | 'about'>, RunFacts {
  readonly done: 0 | 1;
}

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
    return this.database.take(() => {
      const now = Date.now();
      const [row] = this.database.all(READ, key, now) as readonly Row[];
      return decide(row && { ...row, isDone: row.done === 1, about: row }, now, next => {
        if (next) this.database.all(WRITE, ...valuesOf(key, next));
        else this.database.all('DELETE FROM bindonce_1_runs WHERE key = ? RETURNING key', key);
      });
    });
  }
}

function valuesOf(key: string, { token, isDone, expires, unknownUntil, status, about }: HeldRun): unknown[] {
  const { created = Date.now(), method = null, path = null, keyHash = null, callerHash = null } = about ?? {};
  const run = [key, token, Number(isDone), expires, unknownUntil, status ?? null];
  return [...run, created, method, path, keyHash, callerHash];
}

const READ = `SELECT token, done, expires, unknown_until AS unknownUntil, status, created, method, path,
  key_hash AS keyHash, caller_hash AS callerHash
FROM bindonce_1_runs WHERE key = ? AND max(expires, unknown_until) > ?`;

const WRITE = `INSERT OR REPLACE INTO bindonce_1_runs
  (key, token, done, expires, unknown_until, status, created, method, path, key_hash, caller_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`;
