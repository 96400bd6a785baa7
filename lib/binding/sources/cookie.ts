import { parse } from 'cookie';
import type { Request } from 'express';
import { ownValue } from '../reading/own-value';
import type { Location } from '../reading/location';
import type { Expected } from '../types/read-json';
import { readText } from '../types/read-text';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
export const cookie: ValueSource = {
  name: 'cookie',
  missing: 'This cookie is missing from the request.',
  read(input, sourceProperties, found) {
    const cookies = cookiesOf(input.req);
    if (!cookies) return;
    for (const sourceProperty of sourceProperties)
      found.put(
        sourceProperty.index,
        readFrom(cookies, sourceProperty, sourceProperty.name, () => input.locationOf('cookie', sourceProperty.name)),
      );
  },
};

/** Reads one cookie; undefined if the request has none of that name. */
export function readCookie(expected: Expected, name: string, req: Request, locationOf: () => Location): unknown {
  const cookies = cookiesOf(req);
  return cookies && readFrom(cookies, expected, name, locationOf);
}

type Cookies = ReturnType<typeof parse>;

const cookiesOf = ({ headers: { cookie: line } }: Request): Cookies | undefined =>
  line === undefined ? undefined : parse(line);

function readFrom(cookies: Cookies, expected: Expected, name: string, locationOf: () => Location): unknown {
  const value = ownValue(cookies, name);
  return typeof value === 'string' ? readText(expected, [value], locationOf()) : undefined;
}
