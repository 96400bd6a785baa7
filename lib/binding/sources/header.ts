import type { Request } from 'express';
import { headerLines } from '../../http/header-lines';
import type { Place } from '../reading/place';
import { readText, type Expected } from '../reading/reading';
import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  read(input, slots, found) {
    for (const slot of slots)
      found.put(
        slot.index,
        readHeader(slot, slot.name, input.req, () => input.placeOf('header', slot.name)),
      );
  },
};

/** Reads one header; undefined when the request has none of that name. */
export function readHeader(expected: Expected, name: string, req: Request, placeOf: () => Place): unknown {
  const values = headerLines(name.toLowerCase(), req);
  return values && readText(expected, values, placeOf());
}
