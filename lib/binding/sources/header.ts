import { headerLines } from '../../body/header-lines';
import { readText } from '../reading/reading';
import type { ValueSource } from './value-source';

/** SPEC, "HTTP headers": names in any case (RFC 9110, section 5.1); repeated lines are several values. */
export const header: ValueSource = {
  source: 'header',
  missing: 'This header is missing from the request.',
  open(input) {
    return slot => {
      const values = headerLines(slot.name.toLowerCase(), input.req);
      return values && readText(slot, values, input.placeOf('header', slot.name));
    };
  },
};
