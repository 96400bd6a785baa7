import { readByName } from './read-by-name';
import type { ValueSource } from './request-input';

/** Query parameters; names are case-insensitive. */
export const query: ValueSource = {
  name: 'query',
  missing: 'This query parameter is required.',
  read(input, sourceProperties, found) {
    readByName('query', input.query, input, sourceProperties, found);
  },
};
