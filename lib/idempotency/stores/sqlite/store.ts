import { after, type Awaitable } from '../../../basics/awaitable';
import type { Acquisition, LeaseStore } from '../../leases/lease-store';
import type { RunFacts, RunPage, RunQuery, RunRecord } from '../../leases/runs';
import type { RecordedResponse } from '../../responses/recorded-response';
import { listed, listing, RUN_COLUMNS, runOf } from '../list-runs';
import { fromStored, type ResponseStore, toStored } from '../responses';
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
    responses: new SqliteResponses(database),
    close: database.close.bind(database),
  };
}

/** The run that has a key: its lease, or its record, or what is unknown of it after `expires`. */
interface Run {
  readonly token: string;
  readonly done: 0 | 1;
  readonly expires: number;
  readonly unknown_until: number;
}

class SqliteLeases implements LeaseStore {
  constructor(private readonly database: Database) {}

  acquire(key: string, token: string, ms: number, about?: RunFacts): Awaitable<Acquisition> {
    return this.step(key, (run, now) => {
      if (!run || (run.token === token && !run.done)) {
        this.insert(key, token, 0, now + ms, now + (about?.keepUnknown ?? 0), about);
        return { kind: 'acquired' };
      }
      if (run.done) return { kind: 'done', token: run.token };
      const msLeft = run.expires - now;
      return msLeft > 0 ? { kind: 'running', token: run.token, msLeft } : { kind: 'unknown', token: run.token };
    });
  }

  renew(key: string, token: string, ms: number): Awaitable<boolean> {
    return this.step(key, (run, now) => {
      const isHeld = run?.token === token && !run.done && run.expires > now;
      return isHeld && this.database.run('UPDATE bindonce_1_runs SET expires = ? WHERE key = ?', now + ms, key) > 0;
    });
  }

  complete(key: string, token: string, ms: number, status?: number): Awaitable<boolean> {
    return this.step(key, (run, now) => {
      if (run && run.token !== token) return false;
      if (run) this.record(key, now + ms, status);
      else this.insert(key, token, 1, now + ms, 0);
      return true;
    });
  }

  release(key: string, token: string): Awaitable<boolean> {
    return this.step(key, run => run?.token === token && this.remove(key));
  }

  settle(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): Awaitable<boolean> {
    return this.step(key, (run, now) => {
      if (run?.token !== token || run.done || run.expires > now) return false;
      return outcome === 'ran' ? this.record(key, now + ms) : this.remove(key);
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

  async list(query: RunQuery): Promise<RunPage> {
    const { text, values } = listing(query, RUNS, () => '?');
    return listed(await this.database.take(() => this.database.all(text, Date.now(), ...values)), query);
  }

  async get(key: string): Promise<RunRecord | undefined> {
    const sql = `SELECT ${RUN_COLUMNS} FROM (${RUNS}) AS listed WHERE key = ? AND cache_key IS NOT NULL`;
    const row = await this.database.take(() => this.database.get(sql, Date.now(), key));
    return row === undefined ? undefined : runOf(row);
  }

  /** Takes a step on the run that has a key. */
  private step<T>(key: string, decide: (run: Run | undefined, now: number) => T): Awaitable<T> {
    const sql =
      'SELECT token, done, expires, unknown_until FROM bindonce_1_runs ' +
      'WHERE key = ? AND max(expires, unknown_until) > ?';
    return this.database.take(() => {
      const now = Date.now();
      return decide(this.database.get(sql, key, now) as Run | undefined, now);
    });
  }

  private insert(
    key: string,
    token: string,
    done: 0 | 1,
    expires: number,
    unknownUntil: number,
    about?: RunFacts,
  ): void {
    const { created = Date.now(), method = null, path = null, keyHash = null, callerHash = null } = about ?? {};
    const sql =
      'INSERT OR REPLACE INTO bindonce_1_runs ' +
      '(key, token, done, expires, unknown_until, created, method, path, key_hash, caller_hash) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
    this.database.run(sql, key, token, done, expires, unknownUntil, created, method, path, keyHash, callerHash);
  }

  private record(key: string, expires: number, status?: number): boolean {
    const sql = 'UPDATE bindonce_1_runs SET done = 1, expires = ?, unknown_until = 0, status = ? WHERE key = ?';
    return this.database.run(sql, expires, status ?? null, key) > 0;
  }

  private remove(key: string): boolean {
    return this.database.run('DELETE FROM bindonce_1_runs WHERE key = ?', key) > 0;
  }
}

/** The runs that have not expired at the time given; without facts, as of a purge, they are not listed. */
const RUNS = `SELECT key, iif(method IS NULL, NULL, key) AS cache_key, token,
  method, path, created, key_hash, caller_hash, status,
  CASE WHEN done THEN 'done' WHEN expires > now THEN 'running' ELSE 'unknown' END AS state,
  CASE WHEN done OR expires > now THEN expires ELSE unknown_until END AS ends
FROM bindonce_1_runs, (SELECT ? AS now) WHERE max(expires, unknown_until) > now`;

class SqliteResponses implements ResponseStore {
  constructor(private readonly database: Database) {}

  get(key: string, token: string): Awaitable<RecordedResponse | undefined> {
    const sql = 'SELECT response FROM bindonce_1_responses WHERE key = ? AND token = ? AND expires > ?';
    return after(
      this.database.take(() => this.database.get(sql, key, token, Date.now())),
      row => (row ? fromStored(`${key}:${token}`, (row as { readonly response: unknown }).response) : undefined),
    );
  }

  set(key: string, token: string, response: RecordedResponse, ms: number): Awaitable<void> {
    const sql = 'INSERT OR REPLACE INTO bindonce_1_responses (key, token, response, expires) VALUES (?, ?, ?, ?)';
    const text = toStored(`${key}:${token}`, response);
    return this.database.take(() => void this.database.run(sql, key, token, text, Date.now() + ms));
  }

  delete(key: string, token: string): Awaitable<void> {
    const sql = 'DELETE FROM bindonce_1_responses WHERE key = ? AND token = ?';
    return this.database.take(() => void this.database.run(sql, key, token));
  }
}
