import { parse } from 'cookie';
import { readText } from '../reading/reading';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4): names exactly. */
export const cookie: ValueSource = {
  source: 'cookie',
  missing: 'This cookie is missing from the request.',
  open(input) {
    const { cookie: line } = input.req.headers;
    if (line === undefined) return undefined;
    const cookies = parse(line);
    return slot => {
      const value = Object.hasOwn(cookies, slot.name) ? cookies[slot.name] : undefined;
      return value === undefined ? undefined : readText(slot, [value], input.placeOf('cookie', slot.name));
    };
  },
};
