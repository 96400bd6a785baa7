import type { Request } from 'express';
import { readPairs, type Pair } from '../../body/pairs';
import { readByName } from './names';
import type { ValueSource } from './value-source';

/** SPEC, "Query parameters". */
export const query: ValueSource = {
  source: 'query',
  missing: 'This query parameter is required.',
  read: (input, slots, found) => { readByName('query', queryOf(input.req, input.settings.limits.fields), input, slots, found); },
};

/** Read from the URL: what `req.query` is depends on the application's query parser. */
export function queryOf({ url }: Request, limit: number): Pair[] {
  const mark = url.indexOf('?');
  return mark < 0 ? [] : readPairs(url.slice(mark + 1), limit);
}
