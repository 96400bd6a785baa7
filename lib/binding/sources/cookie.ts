import { parse } from 'cookie';
import { readText } from '../read-slot';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4): names exactly. */
export const cookie: ValueSource = {
  source: 'cookie',
  missing: 'This cookie is missing from the request.',
  open(context) {
    const { cookie: line } = context.req.headers;
    if (line === undefined) return undefined;
    const cookies = parse(line);
    return slot => {
      const value = Object.hasOwn(cookies, slot.name) ? cookies[slot.name] : undefined;
      return value === undefined ? undefined : readText(slot, [value], context.at('cookie', slot.name));
    };
  },
};
