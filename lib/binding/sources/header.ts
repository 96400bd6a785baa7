import type { Request } from 'express';
import { removedLines } from '../../body/content/media-type';
import { headerLines } from '../../http/header-lines';
import type { Location } from '../reading/location';
import type { Expected } from '../types/read-json';
import { readText } from '../types/read-text';
import type { ValueSource } from './value-source';

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
export const header: ValueSource = {
  name: 'header',
  missing: 'This header is missing from the request.',
  read(input, sourceProperties, found) {
    for (const sourceProperty of sourceProperties)
      found.put(
        sourceProperty.index,
        readHeader(sourceProperty, sourceProperty.name, input.req, () =>
          input.locationOf('header', sourceProperty.name),
        ),
      );
  },
};

/** Reads one header; undefined if the request has none of that name. */
export function readHeader(expected: Expected, name: string, req: Request, locationOf: () => Location): unknown {
  const key = name.toLowerCase();
  // A form that was read from the connection is no longer announced, but its length was sent.
  const values = headerLines(key, req) ?? removedLines(key, req);
  return values && readText(expected, values, locationOf());
}
