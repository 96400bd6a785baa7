import { after, type Awaitable } from '../../basics/awaitable';
import { pageOf, readMark, type RunPage, type RunQuery, type RunRecord } from '../leases/runs';
import { fromStored, toStored, type ResponseStore } from './responses';

// What the stores on SQL databases have in common.

/** A row of a list. */
interface Row extends Omit<RunRecord, 'cacheKey' | 'status'> {
  readonly cache_key: string;
  readonly status: number | null;
}

/** The runs of a store that have not expired. */
export interface ListedRuns {
  /** SQL of a table with the columns of a row, `key`, `key_hash` and `caller_hash`. */
  readonly sql: string;
  /** Names a parameter by its place: `?` or `$1`. */
  parameter(position: number): string;
  select(text: string, values: unknown[]): Awaitable<readonly unknown[]>;
}

const COLUMNS = 'cache_key, token, state, method, path, created, ends, status';

/** Lists runs, the newest first. */
export async function listRuns(query: RunQuery, runs: ListedRuns): Promise<RunPage> {
  const values: unknown[] = [];
  const add = (value: unknown): string => runs.parameter(values.push(value));
  const conditions = ['cache_key IS NOT NULL'];
  for (const [column, value] of [
    ['state', query.state],
    ['key_hash', query.keyHash],
    ['caller_hash', query.callerHash],
  ] as const)
    if (value !== undefined) conditions.push(`${column} = ${add(value)}`);
  if (query.path !== undefined) {
    const below = `${query.path}/`;
    conditions.push(`(path = ${add(query.path)} OR substr(path, 1, ${below.length}) = ${add(below)})`);
  }
  const from = readMark(query.after);
  if (from) conditions.push(`(created, cache_key) < (${add(from[0])}, ${add(from[1])})`);
  const text =
    `SELECT ${COLUMNS} FROM (${runs.sql}) AS listed WHERE ${conditions.join(' AND ')} ` +
    `ORDER BY created DESC, cache_key DESC LIMIT ${query.limit + 1}`;
  return pageOf((await runs.select(text, values)).map(runOf), query.limit);
}

/** Finds the run of a key. */
export async function findRun(key: unknown, runs: ListedRuns): Promise<RunRecord | undefined> {
  const conditions = `key = ${runs.parameter(1)} AND cache_key IS NOT NULL`;
  const text = `SELECT ${COLUMNS} FROM (${runs.sql}) AS listed WHERE ${conditions}`;
  const [row] = await runs.select(text, [key]);
  return row === undefined ? undefined : runOf(row);
}

function runOf(row: unknown): RunRecord {
  const { cache_key: cacheKey, status, token, state, method, path, created, ends } = row as Row;
  return { cacheKey, token, state, method, path, created, ends, ...(status !== null && { status }) };
}

/** The name that a stored response gives itself. */
export const nameOf = (key: string, token: string): string => `${key}:${token}`;

/** Makes a store of responses out of the steps on their table. */
export const responsesBy = (steps: {
  readonly read: (key: string, token: string) => Awaitable<readonly unknown[]>;
  readonly keep: (key: string, token: string, ms: number, text: string) => Awaitable<unknown>;
  readonly remove: (key: string, token: string) => Awaitable<unknown>;
}): ResponseStore => ({
  get: (key, token) =>
    after(steps.read(key, token), ([row]) => {
      return row ? fromStored(nameOf(key, token), (row as { readonly response: unknown }).response) : undefined;
    }),
  set: (key, token, response, ms) =>
    after(steps.keep(key, token, ms, toStored(nameOf(key, token), response)), () => undefined),
  delete: (key, token) => after(steps.remove(key, token), () => undefined),
});

/** Milliseconds from the use of the tables to the sweep; until then, expired rows only take space. */
const SWEEP_DELAY = 60_000;

/**
 * Returns a function to call at each use: a minute later, it deletes what has expired.
 * @param pieces each deletes some rows, and tells whether there may be more.
 */
export function sweeping(pieces: readonly (() => Promise<boolean>)[]): () => void {
  let timer: NodeJS.Timeout | undefined;
  const sweep = async (): Promise<void> => {
    for (const piece of pieces) while (await piece()); // the next piece
  };
  // After an error, the next sweep finds the same rows.
  const end = (): void => {
    timer = undefined;
  };
  return () => {
    timer ??= setTimeout(() => void sweep().then(end, end), SWEEP_DELAY).unref();
  };
}
