import type { Request } from 'express';
import { Problem } from '../../problems/problem';
import { readPairs, type Pair } from '../../body/urlencoded';
import { INVALID, type Location } from '../reading/location';
import { readFlat, type Expected } from '../types/read-value';
import { NameTree } from '../reading/name-tree';
import { isReadable, readByName } from './names';
import type { ValueSource } from './value-source';

/** Query parameters; names are case-insensitive. */
export const query: ValueSource = {
  source: 'query',
  missing: 'This query parameter is required.',
  read: (input, sourceProperties, found) => {
    readByName('query', queryOf(input.req, input.options.limits.fields), input, sourceProperties, found);
  },
};

/**
 * Reads one parameter; undefined if the query has none of that name. Other parameters are ignored, even invalid ones.
 */
export function readQueryParameter(expected: Expected, name: string, req: Request, location: Location): unknown {
  const pairs = queryOf(req, location.limits.fields).filter(
    pair => pair[2] === undefined || NameTree.of([pair]).at(name) !== undefined,
  );
  if (!pairs.every(pair => isReadable(pair, () => location))) return INVALID;
  const tree = NameTree.of(pairs).at(name);
  return tree && readFlat(expected, tree, location);
}

/**
 * Reads the query from the URL: the form of `req.query` depends on the application's query parser.
 * @throws a 414 problem for too many parameters.
 */
export function queryOf({ url }: Request, limit: number): Pair[] {
  const mark = url.indexOf('?');
  try {
    return mark < 0 ? [] : readPairs(url.slice(mark + 1), limit);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'body-too-large') throw error;
    throw new Problem('query-too-large', `There are more than ${limit} query parameters.`, { cause: error });
  }
}
