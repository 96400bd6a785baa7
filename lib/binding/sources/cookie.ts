import { parse } from 'cookie';
import { ownValue } from '../reading/json-text';
import { readText } from '../types/read-text';
import type { ValueSource } from './request-input';

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
export const cookie: ValueSource = {
  name: 'cookie',
  missing: 'This cookie is missing from the request.',
  read(input, sourceProperties, found) {
    const { cookie: line } = input.req.headers;
    if (line === undefined) return;
    const cookies = parse(line);
    for (const sourceProperty of sourceProperties) {
      const { index, name } = sourceProperty;
      const value = ownValue(cookies, name);
      if (typeof value === 'string')
        found.put(index, readText(sourceProperty, [value], input.locationOf('cookie', name)));
    }
  },
};
