import { parse } from 'cookie';
import type { Request } from 'express';
import { ownValue } from '../reading/own-value';
import type { Place } from '../reading/place';
import { readText, type Expected } from '../reading/reading';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4): names exactly. */
export const cookie: ValueSource = {
  source: 'cookie',
  missing: 'This cookie is missing from the request.',
  read(input, slots, found) {
    const cookies = cookiesOf(input.req);
    if (!cookies) return;
    for (const slot of slots)
      found.put(
        slot.index,
        readFrom(cookies, slot, slot.name, () => input.placeOf('cookie', slot.name)),
      );
  },
};

/** Reads one cookie; undefined when the request has none of that name. */
export function readCookie(expected: Expected, name: string, req: Request, placeOf: () => Place): unknown {
  const cookies = cookiesOf(req);
  return cookies && readFrom(cookies, expected, name, placeOf);
}

type Cookies = ReturnType<typeof parse>;

const cookiesOf = ({ headers: { cookie: line } }: Request): Cookies | undefined =>
  line === undefined ? undefined : parse(line);

function readFrom(cookies: Cookies, expected: Expected, name: string, placeOf: () => Place): unknown {
  const value = ownValue(cookies, name);
  return typeof value === 'string' ? readText(expected, [value], placeOf()) : undefined;
}
