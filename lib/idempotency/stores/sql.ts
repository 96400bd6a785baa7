import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseStore } from '../leases/lease-store';
import { markIn, pageOf, type RunPage, type RunQuery, type RunRecord } from '../leases/runs';
import { TextResponses } from './store';

/** What differs between the databases in the text of statements. */
export interface Dialect {
  /** The table of responses. */
  readonly responses: string;
  /** A query of all runs, with the columns of a list; the state of one that has expired is `over`. */
  readonly listed: string;
  /** Deletes up to $1 expired runs, and returns a row for each. */
  readonly sweep: string;
  readonly now: string;
  /** Locks the rows of a query, and skips those that others have locked. */
  readonly lock: string;
  /** Returns the time so many milliseconds from now. */
  after(ms: string): string;
  /** Returns the value of the column `key`. */
  keyOf(cacheKey: string): unknown;
}

/**
 * Makes the tables of runs and responses, unless they are there.
 * @param types of a key, a condition and a time. (SQLite takes any name for a type.)
 * @param named names a table or an index.
 */
export const schemaWith = (
  [key, condition, time]: readonly [string, string, string],
  named: (what: string) => string,
  indexed = named,
): string => `CREATE TABLE IF NOT EXISTS ${named('runs')} (
  key ${key} PRIMARY KEY, token text NOT NULL, done ${condition} NOT NULL, expires ${time} NOT NULL,
  unknown_until ${time}, cache_key text, method text, path text, created float8, key_hash text, caller_hash text,
  status int
);
CREATE TABLE IF NOT EXISTS ${named('responses')} (
  key ${key}, token text, response text NOT NULL, expires ${time} NOT NULL, PRIMARY KEY (key, token)
);
CREATE INDEX IF NOT EXISTS ${indexed('runs_expires')} ON ${named('runs')} (expires);
CREATE INDEX IF NOT EXISTS ${indexed('runs_created')} ON ${named('runs')} (created);
CREATE INDEX IF NOT EXISTS ${indexed('runs_key_hash')} ON ${named('runs')} (key_hash);
CREATE INDEX IF NOT EXISTS ${indexed('responses_expires')} ON ${named('responses')} (expires);`;

const COLUMNS = 'cache_key AS "cacheKey", token, state, method, path, created, ends, status';

/** Milliseconds from the use of the tables to the sweep; until then, expired rows only take space. */
const SWEEP_DELAY = 60_000;
/** Rows that are deleted at once. */
const SWEEP_BATCH = 500;
/** Milliseconds between two batches, in which others have their turn. */
const SWEEP_PAUSE = 20;
/** Milliseconds: a hundred years. */
const FOR_EVER = 3_155_760_000_000;

/**
 * What the stores on SQL databases have in common: responses, lists, and how they sweep. Each parameter is named once
 * in a statement, in order, so that it may as well be `?`.
 */
export abstract class SqlDatabase extends TextResponses {
  /** What leases on the database have of it. */
  readonly ofLeases: Pick<LeaseStore, 'salt' | 'list' | 'get'> = {
    salt: this.salt.bind(this),
    list: this.list.bind(this),
    get: this.find.bind(this),
  };
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dialect: Dialect) {
    super();
  }

  /** Runs one statement. */
  protected abstract query(text: string, values: readonly unknown[]): Promise<readonly unknown[]>;

  /** Lists runs, the newest first. */
  private async list(query: RunQuery): Promise<RunPage> {
    const values: unknown[] = [];
    const conditions: string[] = [];
    const add = (value: unknown): string => `$${values.push(value)}`;
    const { state, keyHash, callerHash, path, limit } = query;
    for (const [column, value] of Object.entries({ state, key_hash: keyHash, caller_hash: callerHash }))
      if (value !== undefined) conditions.push(`AND ${column} = ${add(value)}`);
    if (path !== undefined)
      conditions.push(`AND (path = ${add(path)} OR substr(path, 1, ${path.length + 1}) = ${add(`${path}/`)})`);
    const mark = markIn(query);
    if (mark) conditions.push(`AND (created, cache_key) < (${add(mark.created)}, ${add(mark.cacheKey)})`);
    conditions.push(`ORDER BY created DESC, cache_key DESC LIMIT ${limit + 1}`);
    return pageOf(await this.select(conditions.join(' '), values), limit);
  }

  /** Finds the run of a key. */
  private async find(cacheKey: string): Promise<RunRecord | undefined> {
    const [run] = await this.select('AND key = $1', [this.dialect.keyOf(cacheKey)]);
    return run;
  }

  private async select(conditions: string, values: readonly unknown[]): Promise<RunRecord[]> {
    // Runs without facts, as that of a purge, are not listed.
    const live = "state <> 'over' AND method IS NOT NULL";
    const text = `SELECT ${COLUMNS} FROM (${this.dialect.listed}) AS run WHERE ${live} ${conditions}`;
    const rows = (await this.query(text, values)) as readonly (Omit<RunRecord, 'status'> & { status: number | null })[];
    return rows.map(({ status, ...run }) => ({ ...run, ...(status !== null && { status }) }));
  }

  /** Returns the salt, and makes it where there is none, also after the tables were emptied. */
  private async salt(): Promise<string> {
    const text = `${this.insert} expires = excluded.expires RETURNING response`;
    const [row] = (await this.query(text, ['', 'salt', randomUUID(), FOR_EVER])) as readonly [{ response: string }];
    return row.response;
  }

  protected async read(cacheKey: string, token: string): Promise<unknown> {
    const { responses, now } = this.dialect;
    const text = `SELECT response FROM ${responses} WHERE key = $1 AND token = $2 AND expires > ${now}`;
    const [row] = (await this.query(text, [this.dialect.keyOf(cacheKey), token])) as readonly { response: string }[];
    return row?.response;
  }

  protected write(cacheKey: string, token: string, response: string, ms: number): Promise<unknown> {
    const text = `${this.insert} response = excluded.response, expires = excluded.expires RETURNING token`;
    return this.query(text, [this.dialect.keyOf(cacheKey), token, response, ms]);
  }

  async delete(cacheKey: string, token: string): Promise<void> {
    const text = `DELETE FROM ${this.dialect.responses} WHERE key = $1 AND token = $2 RETURNING token`;
    await this.query(text, [this.dialect.keyOf(cacheKey), token]);
  }

  private get insert(): string {
    const row = `(key, token, response, expires) VALUES ($1, $2, $3, ${this.dialect.after('$4')})`;
    return `INSERT INTO ${this.dialect.responses} ${row} ON CONFLICT (key, token) DO UPDATE SET`;
  }

  /** Called at each use: a minute later, what has expired is deleted. */
  protected planSweep(): void {
    this.timer ??= setTimeout(() => void this.sweep(), SWEEP_DELAY).unref();
  }

  private async sweep(): Promise<void> {
    const { responses, now, lock, sweep } = this.dialect;
    const expired = `SELECT key, token FROM ${responses} WHERE expires <= ${now} LIMIT $1 ${lock}`;
    try {
      for (const text of [sweep, `DELETE FROM ${responses} WHERE (key, token) IN (${expired}) RETURNING token`])
        while ((await this.query(text, [SWEEP_BATCH])).length === SWEEP_BATCH) await pause(SWEEP_PAUSE);
    } catch {
      // The next sweep finds the same rows.
    }
    this.timer = undefined;
  }
}
