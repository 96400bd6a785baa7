import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database, QueryResult } from 'node-sqlite3-wasm';
import type { Acquisition, LeaseStore } from '../../lib';

/** Milliseconds since 1970 by SQLite's clock, the same for the whole statement. (`unixepoch()` alone has seconds.) */
export const NOW = "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";

/** Milliseconds, nearly: tries to write while another connection does. */
const MAX_TRIES = 5_000;

/** Whether the token may take the row: it has expired, or is this token's lease. */
const FREE = `(expires <= ${NOW} OR token = :token AND NOT done)`;

/** Each step is one statement, and so one atomic step: SQLite lets one connection write at a time. */
export const statements = {
  create: `
CREATE TABLE IF NOT EXISTS leases (
  key TEXT PRIMARY KEY,
  token TEXT NOT NULL,
  done INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID`,

  /** Always writes, since only a row that is written is returned; a row of another token is written as it was. */
  acquire: `
INSERT INTO leases (key, token, done, expires) VALUES (:key, :token, 0, ${NOW} + :ms)
ON CONFLICT (key) DO UPDATE SET
  token = iif(${FREE}, :token, token),
  done = iif(${FREE}, 0, done),
  expires = iif(${FREE}, excluded.expires, expires)
RETURNING token, done, expires - ${NOW} AS msLeft`,

  renew: `
UPDATE leases SET expires = ${NOW} + :ms
WHERE key = :key AND token = :token AND NOT done AND expires > ${NOW}
RETURNING token`,

  complete: `
INSERT INTO leases (key, token, done, expires) VALUES (:key, :token, 1, ${NOW} + :ms)
ON CONFLICT (key) DO UPDATE SET token = excluded.token, done = 1, expires = excluded.expires
WHERE token = :token OR expires <= ${NOW}
RETURNING token`,

  release: `
DELETE FROM leases WHERE key = :key AND token = :token AND expires > ${NOW}
RETURNING token`,

  sweep: `DELETE FROM leases WHERE expires <= ${NOW}`,
};

export type Statements = typeof statements;

/**
 * Leases in a file of SQLite, which the processes of one machine share. Made by docs/stores/write-your-own.md. (This
 * build of SQLite locks the file by a folder next to it, which a killed process leaves behind. Others do not.)
 */
export class SqliteLeases implements LeaseStore {
  private isOpen = false;

  constructor(
    private readonly database: Database,
    private readonly sql: Statements = statements,
  ) {}

  async acquire(key: string, token: string, ms: number): Promise<Acquisition> {
    const row = await this.step('acquire', key, token, ms);
    const holder = String(row?.['token']);
    if (row?.['done'] === 1) return { kind: 'done', token: holder };
    return holder === token
      ? { kind: 'acquired' }
      : { kind: 'running', token: holder, msLeft: Number(row?.['msLeft']) };
  }

  async renew(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.step('renew', key, token, ms)) !== null;
  }

  async complete(key: string, token: string, ms: number): Promise<boolean> {
    return (await this.step('complete', key, token, ms)) !== null;
  }

  async release(key: string, token: string): Promise<boolean> {
    return (await this.step('release', key, token)) !== null;
  }

  /** Deletes what has expired; call it now and then. */
  sweep(): Promise<unknown> {
    return this.patiently(() => this.database.exec(this.sql.sweep));
  }

  private async step(
    statement: keyof Statements,
    key: string,
    token: string,
    ms?: number,
  ): Promise<QueryResult | null> {
    if (!this.isOpen) await this.patiently(() => this.database.exec(this.sql.create));
    this.isOpen = true;
    // This driver ends text at a NUL; the hash of a key has none.
    const hash = createHash('sha256').update(key).digest('hex');
    const values = { ':key': hash, ':token': token, ...(ms !== undefined && { ':ms': ms }) };
    return this.patiently(() => this.database.get(this.sql[statement], values));
  }

  /** Tries again while another connection writes; bindonce stops waiting for it after `storeTimeout`. */
  private async patiently<T>(work: () => T): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return work();
      } catch (error) {
        if (tries === MAX_TRIES || !(error instanceof Error && error.message === 'database is locked')) throw error;
        await pause(1);
      }
    }
  }
}
