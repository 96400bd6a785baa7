import type { Request } from 'express';
import { INVALID, type Location } from '../reading/location';
import type { Expected } from '../types/read-json';
import { readFlat } from '../types/read-names';
import { NameTree } from '../reading/name-tree';
import { isReadable, readByName } from './read-by-name';
import { queryKeptOf } from './query-pairs';
import type { ValueSource } from './value-source';

/** Query parameters; names are case-insensitive. */
export const query: ValueSource = {
  name: 'query',
  missing: 'This query parameter is required.',
  read: (input, sourceProperties, found) => {
    readByName('query', input.query, input, sourceProperties, found);
  },
};

/**
 * Reads one parameter; undefined if the query has none of that name. Other parameters are ignored, even invalid ones.
 */
export function readQueryParameter(expected: Expected, name: string, req: Request, location: Location): unknown {
  const pairs = queryKeptOf(req, location.limits.fields).filter(
    pair => pair[2] === undefined || NameTree.of([pair]).at(name) !== undefined,
  );
  if (!pairs.every(pair => isReadable(pair, () => location))) return INVALID;
  const tree = NameTree.of(pairs).at(name);
  return tree && readFlat(expected, tree, location);
}
