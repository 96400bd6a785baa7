import { headerLines } from '../../body/header-lines';
import { readText } from '../reading/reading';
import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  read(input, slots, found) {
    for (const slot of slots) {
      const values = headerLines(slot.name.toLowerCase(), input.req);
      if (values) found.put(slot.index, readText(slot, values, input.placeOf('header', slot.name)));
    }
  },
};
