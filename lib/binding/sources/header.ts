import { readText } from '../reading';
import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  open(input) {
    // `req.headers` joins repeated lines, or keeps the first only.
    const lines = input.req.headersDistinct;
    return slot => {
      const values = lines[slot.name.toLowerCase()];
      return values && readText(slot, values, input.placeOf('header', slot.name));
    };
  },
};
