import { parse } from 'cookie';
import { ownValue } from '../reading/own-value';
import { readText } from '../reading/reading';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4): names exactly. */
export const cookie: ValueSource = {
  source: 'cookie',
  missing: 'This cookie is missing from the request.',
  read(input, slots, found) {
    const { cookie: line } = input.req.headers;
    if (line === undefined) return;
    const cookies = parse(line);
    for (const slot of slots) {
      const value = ownValue(cookies, slot.name);
      if (typeof value === 'string') found.put(slot.index, readText(slot, [value], input.placeOf('cookie', slot.name)));
    }
  },
};
