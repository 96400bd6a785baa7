import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Awaitable } from '../../basics/awaitable';
import type { Decision, HeldRun, LeaseStore } from '../leases/lease-store';
import { isUnknown, RecordLeases } from '../leases/lease-store';
import { markIn, pageOf, type RunPage, type RunQuery, type RunRecord } from '../leases/runs';
import { TextResponses } from './store';

/** What differs between the databases in the text of statements. */
export interface Dialect {
  /** Names a table. */
  readonly named: (what: 'runs' | 'responses') => string;
  /** The runs, named `r`, with what {@link lease} needs. */
  readonly from: string;
  /** When the lease of a run ends. */
  readonly lease: string;
  /** A text that is another one after each change of a run. */
  readonly version: string;
  readonly now: string;
  /** Locks the rows of a query, and skips those that others have locked. */
  readonly lock: string;
  /** Returns the time so many milliseconds from now. */
  readonly after: (ms: string) => string;
  /** Returns the milliseconds from now until a time. */
  readonly until: (time: string) => string;
  /** Returns the value of the column `key`. */
  readonly keyOf: (cacheKey: string) => unknown;
}

/** A dialect, with what is made for it. */
export interface Database extends Dialect {
  /**
   * Writes a run as {@link insertRun} does, and returns a row whose state is `written`; else the run that is there, or
   * nothing.
   */
  readonly writeRun: string;
  /** Returns a row if the token still holds the lease. $1: milliseconds; $2: key; $3: token. */
  readonly renewRun: string;
  /** Deletes up to $1 runs that are over, and returns a row for each. */
  readonly sweepRuns: string;
  /** Runs a statement, which is one transaction. */
  run(text: string, values: unknown[]): Awaitable<readonly unknown[]>;
  /** Returns true for the error of a statement that has changed nothing, and may be tried again. */
  mayTryAgain(error: unknown): Awaitable<boolean>;
}

/**
 * Makes the tables of runs and responses, unless they are there. (SQLite takes any name for a type.)
 * @param named names a table or an index.
 */
export const schemaWith = (
  keyType: 'text' | 'bytea',
  named: (what: string) => string,
  indexed = named,
): string => `CREATE TABLE IF NOT EXISTS ${named('runs')} (
  key ${keyType} PRIMARY KEY, token text NOT NULL, done boolean NOT NULL, expires timestamptz NOT NULL,
  unknown_until timestamptz, cache_key text, method text, path text, created float8, key_hash text, caller_hash text,
  status int
);
CREATE TABLE IF NOT EXISTS ${named('responses')} (
  key ${keyType}, token text, response text NOT NULL, expires timestamptz NOT NULL, PRIMARY KEY (key, token)
);
CREATE INDEX IF NOT EXISTS ${indexed('runs_expires')} ON ${named('runs')} (expires);
CREATE INDEX IF NOT EXISTS ${indexed('runs_created')} ON ${named('runs')} (created);
CREATE INDEX IF NOT EXISTS ${indexed('responses_expires')} ON ${named('responses')} (expires);`;

/** What a run keeps where its own token writes it without. */
const KEPT = ['status', 'cache_key', 'method', 'path', 'created', 'key_hash', 'caller_hash'];

/** Selects runs, also those that are over. */
export const selectRuns = ({ from, lease, version, now, until }: Dialect): string => `
SELECT * FROM (
  SELECT key, r.token, r.expires, ${KEPT.join(', ')}, ${version} AS version,
    CASE WHEN done THEN CASE WHEN r.expires > ${now} THEN 'done' ELSE 'over' END
      WHEN ${lease} > ${now} THEN 'running' WHEN unknown_until > ${now} THEN 'unknown' ELSE 'over' END AS state,
    ${until(`CASE WHEN done THEN r.expires WHEN ${lease} > ${now} THEN ${lease} ELSE unknown_until END`)} AS "msLeft"
  FROM ${from}
) AS run WHERE`;

/** Says of a run `r` that it is as a step has seen it; see {@link insertRun} for the parameters. */
export const isAsSeen = ({ version }: Dialect): string =>
  `(${version} = $2 OR $2 IS NULL AND r.token = $3 AND ($4 OR NOT r.done))`;

/**
 * Writes the run of a key. $1: key; $2: the version that was seen, or null: there was none, or nobody has looked; $3:
 * token; $4: whether it is done; $5 and $6: milliseconds until it expires, and until it is not unknown any more; then
 * what is kept. (Without a look, a run may take the place of one of its own token that is not done, or if it is done.)
 */
export const insertRun = ({ named, after }: Dialect, mayInsert: string, mayReplace: string): string => `
INSERT INTO ${named('runs')} AS r (key, token, done, expires, unknown_until, ${KEPT.join(', ')})
SELECT $1, $3, $4, ${after('$5')}, ${after('$6')}, $7, $8, $9, $10, $11, $12, $13 WHERE ${mayInsert}
ON CONFLICT (key) DO UPDATE SET token = excluded.token, done = excluded.done, expires = excluded.expires,
  unknown_until = excluded.unknown_until, ${KEPT.map(
    name => `${name} = coalesce(excluded.${name}, CASE r.token WHEN excluded.token THEN r.${name} END)`,
  ).join(', ')}
WHERE ${mayReplace}`;

/** Deletes up to $1 runs that are over. */
export const deleteRuns = (dialect: Dialect): string => `
DELETE FROM ${dialect.named('runs')} WHERE key IN (
  SELECT key FROM (${selectRuns(dialect)} expires <= ${dialect.now} AND state = 'over' LIMIT $1 ${dialect.lock}) AS run
) RETURNING key`;

/** Milliseconds from the use of the tables to the sweep; until then, expired rows only take space. */
const SWEEP_DELAY = 60_000;
/** Rows that are deleted at once. */
const SWEEP_BATCH = 500;
/** Milliseconds between two batches, in which others have their turn. */
const SWEEP_PAUSE = 20;
/** Milliseconds: a hundred years. */
const FOR_EVER = 3_155_760_000_000;

/** Milliseconds after which a statement has failed that the database has not carried out. */
export const LONGEST_WAIT = 10_000;
/** Milliseconds between two tries, at most: random, so that processes do not meet again. */
const LONGEST_PAUSE = 20;

/** Responses in a SQL database, and how its tables are swept. */
export class SqlResponses extends TextResponses {
  private timer: NodeJS.Timeout | undefined;

  constructor(readonly database: Database) {
    super();
  }

  /** Runs a statement, and plans the sweep: a minute later, what has expired is deleted. */
  async query<Row>(text: string, ...values: unknown[]): Promise<readonly Row[]> {
    this.timer ??= setTimeout(() => void this.sweep(), SWEEP_DELAY).unref();
    for (const end = performance.now() + LONGEST_WAIT; ;) {
      try {
        return (await this.database.run(text, values)) as readonly Row[];
      } catch (error) {
        if (performance.now() > end || !(await this.database.mayTryAgain(error))) throw error;
      }
      await pause(Math.random() * LONGEST_PAUSE);
    }
  }

  /** Writes a row, unless there is one: what follows says what happens to that. */
  get insert(): string {
    const row = `(key, token, response, expires) VALUES ($1, $2, $3, ${this.database.after('$4')})`;
    return `INSERT INTO ${this.database.named('responses')} ${row} ON CONFLICT (key, token) DO UPDATE SET`;
  }

  protected async read(cacheKey: string, token: string): Promise<unknown> {
    const { named, now, keyOf } = this.database;
    const text = `SELECT response FROM ${named('responses')} WHERE key = $1 AND token = $2 AND expires > ${now}`;
    const [row] = await this.query<{ response: string }>(text, keyOf(cacheKey), token);
    return row?.response;
  }

  protected write(cacheKey: string, token: string, response: string, ms: number): Promise<unknown> {
    const text = `${this.insert} response = excluded.response, expires = excluded.expires RETURNING token`;
    return this.query(text, this.database.keyOf(cacheKey), token, response, ms);
  }

  async delete(cacheKey: string, token: string): Promise<void> {
    const text = `DELETE FROM ${this.database.named('responses')} WHERE key = $1 AND token = $2 RETURNING token`;
    await this.query(text, this.database.keyOf(cacheKey), token);
  }

  private async sweep(): Promise<void> {
    const { named, now, lock, sweepRuns } = this.database;
    const responses = named('responses');
    const expired = `SELECT key, token FROM ${responses} WHERE expires <= ${now} LIMIT $1 ${lock}`;
    try {
      for (const text of [sweepRuns, `DELETE FROM ${responses} WHERE (key, token) IN (${expired}) RETURNING token`])
        while ((await this.query(text, SWEEP_BATCH)).length === SWEEP_BATCH) await pause(SWEEP_PAUSE);
    } catch {
      // The next sweep finds the same rows.
    }
    this.timer = undefined;
  }
}

/** A row of a run; a column without a value is null. */
interface Row extends Omit<RunRecord, 'cacheKey' | 'state' | 'ends'> {
  readonly state: RunRecord['state'] | 'over' | 'written';
  /** Until the state ends. */
  readonly msLeft: number;
  readonly version: string;
  readonly cache_key: string;
}

/** Runs that are not over; nor those without facts, as that of a purge. */
const LISTED = "state <> 'over' AND method IS NOT NULL";

/** Tries after which a step has failed. */
const TRIES = 20;

/**
 * Leases in SQL tables. A step is decided here, and written if the run is still as it was seen. At first it assumes
 * that there is none, or one of its own: so the steps of a first request take one statement each.
 * Times are relative to the clock of the database.
 */
export class SqlLeases extends RecordLeases implements LeaseStore {
  constructor(private readonly tables: SqlResponses) {
    super();
  }

  override async renew(key: string, token: string, ms: number): Promise<boolean> {
    const { renewRun, keyOf } = this.tables.database;
    return (await this.tables.query(renewRun, ms, keyOf(key), token)).length === 1;
  }

  settle(key: string, token: string, outcome: 'ran' | 'did-not-run', ms: number): Promise<boolean> {
    return this.step(key, (run, now, put) => {
      if (run?.token !== token || !isUnknown(run, now)) return false;
      put(outcome === 'ran' ? { ...run, isDone: true, expires: now + ms } : undefined);
      return true;
    });
  }

  /** Returns the salt, and makes it where there is none, also after the tables were emptied. */
  async salt(): Promise<string> {
    const text = `${this.tables.insert} expires = excluded.expires RETURNING response AS salt`;
    const [row] = await this.tables.query<{ salt: string }>(text, '', 'salt', randomUUID(), FOR_EVER);
    return row?.salt ?? '';
  }

  /** Lists runs, the newest first. */
  async list(query: RunQuery): Promise<RunPage> {
    const { state = '', keyHash = '', callerHash = '', path, limit } = query;
    const { created, cacheKey } = markIn(query) ?? { created: Infinity, cacheKey: '' };
    const below = path === undefined ? '' : `${path}/`;
    const rows = await this.select(
      `${LISTED} AND $1 IN ('', state) AND $2 IN ('', key_hash) AND $3 IN ('', caller_hash)
AND substr(path || '/', 1, $4) = $5 AND (created, cache_key) < ($6, $7)
ORDER BY created DESC, cache_key DESC LIMIT $8`,
      ...[state, keyHash, callerHash, below.length, below, created, cacheKey, limit + 1],
    );
    return pageOf(rows.map(recordOf), limit);
  }

  /** Finds the run of a key. */
  async get(key: string): Promise<RunRecord | undefined> {
    const [row] = await this.select(`key = $1 AND ${LISTED}`, this.tables.database.keyOf(key));
    return row && recordOf(row);
  }

  private select(conditions: string, ...values: unknown[]): Promise<readonly Row[]> {
    return this.tables.query(`${selectRuns(this.tables.database)} ${conditions}`, ...values);
  }

  protected async step<T>(cacheKey: string, decide: Decision<T>): Promise<T> {
    const { writeRun, keyOf } = this.tables.database;
    const key = keyOf(cacheKey);
    let found: Row | undefined;
    for (let tries = 0; tries <= TRIES; tries++) {
      // The second try is no repetition: it knows what is there.
      if (tries > 1) await pause(tries);
      const held = found && heldAs(found);
      const puts: HeldRun[] = [];
      // What is removed is over, and swept later.
      const answer = decide(held, 0, next => puts.push(next ?? { ...OVER, token: held?.token ?? '' }));
      const [next] = puts;
      if (!next && tries > 0) return answer;
      const write = next && this.tables.query<Row>(writeRun, key, found?.version, ...valuesOf(cacheKey, next));
      const [row] = (await write) ?? [];
      if (row?.state === 'written') return answer;
      [found] = row ? [row] : await this.select('key = $1', key);
    }
    // A row that stays locked counts as running: a transaction of the application is about to commit it.
    return decide(found && (heldAs(found) ?? { ...OVER, token: found.token, isDone: false }), 0, () => {
      throw new Error(`A step was tried ${TRIES} times, and others had locked its row each time`);
    });
  }
}

/** It has expired long ago: a statement that began a moment before may see it, by an earlier clock. */
const OVER = { isDone: true, expires: -60_000, unknownUntil: -60_000 };

const heldAs = ({ state, token, msLeft }: Row): HeldRun | undefined =>
  state === 'over'
    ? undefined
    : { token, isDone: state === 'done', expires: state === 'unknown' ? 0 : msLeft, unknownUntil: msLeft };

/** Returns the parameters of {@link insertRun} from the third on. */
function valuesOf(cacheKey: string, { token, isDone, expires, unknownUntil, status, about }: HeldRun): unknown[] {
  const facts = [about && cacheKey, about?.method, about?.path, about?.created, about?.keyHash, about?.callerHash];
  return [token, Number(isDone), expires, unknownUntil, status, ...facts];
}

function recordOf({ cache_key: cacheKey, token, state, method, path, created, status, msLeft }: Row): RunRecord {
  const run = { cacheKey, token, state, method, path, created, ends: Math.round(Date.now() + msLeft) } as RunRecord;
  return { ...run, ...(typeof status === 'number' && { status }) };
}
