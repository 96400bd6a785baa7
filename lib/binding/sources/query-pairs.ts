import type { Request } from 'express';
import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem } from '../../problems/problem';

/**
 * Reads the query from the URL: the form of `req.query` depends on the application's query parser.
 * @throws a 414 problem for too many parameters.
 */
export function queryOf({ url }: Request, limit: number): readonly Pair[] {
  const mark = url.indexOf('?');
  try {
    return mark < 0 ? [] : readPairs(url.slice(mark + 1), limit);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'body-too-large') throw error;
    throw new Problem('query-too-large', `There are more than ${limit} query parameters.`, { cause: error });
  }
}

/** The query that was read last for each request, with the URL that it is from. */
const known = new WeakMap<Request, { readonly url: string; readonly limit: number; readonly pairs: readonly Pair[] }>();

/** Reads the query as `queryOf` does, once for all values that a handler asks for one by one. */
export function queryKeptOf(req: Request, limit: number): readonly Pair[] {
  const { url } = req;
  const last = known.get(req);
  if (last?.url === url && last.limit === limit) return last.pairs;
  const pairs = queryOf(req, limit);
  known.set(req, { url, limit, pairs });
  return pairs;
}
