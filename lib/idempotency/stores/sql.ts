import { pageOf, readMark, type RunPage, type RunQuery, type RunRecord } from '../leases/runs';

/** What the SQL of a list begins with: a table or subquery with these columns. */
export const RUN_COLUMNS = 'cache_key, token, state, method, path, created, ends, status';

/**
 * Makes the SQL that lists runs, the newest first, one more than asked for.
 * @param runs a table or subquery with {@link RUN_COLUMNS}, `key_hash` and `caller_hash`.
 * @param parameter names a parameter by its place: `?` or `$1`.
 */
export function listing(
  query: RunQuery,
  runs: string,
  parameter: (position: number) => string,
): { readonly text: string; readonly values: (string | number)[] } {
  const values: (string | number)[] = [];
  const add = (value: string | number): string => parameter(values.push(value));
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
    `SELECT ${RUN_COLUMNS} FROM (${runs}) AS listed WHERE ${conditions.join(' AND ')} ` +
    `ORDER BY created DESC, cache_key DESC LIMIT ${query.limit + 1}`;
  return { text, values };
}

/** A row of a list. */
interface Row extends Omit<RunRecord, 'cacheKey' | 'status'> {
  readonly cache_key: string;
  readonly status: number | null;
}

export function runOf(row: unknown): RunRecord {
  const { cache_key: cacheKey, status, token, state, method, path, created, ends } = row as Row;
  return { cacheKey, token, state, method, path, created, ends, ...(status !== null && { status }) };
}

export const listed = (rows: readonly unknown[], { limit }: RunQuery): RunPage => pageOf(rows.map(runOf), limit);
