import { headerLines } from '../../http/express';
import { readText } from '../types/read-text';
import type { ValueSource } from './request-input';

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
export const header: ValueSource = {
  name: 'header',
  missing: 'This header is missing from the request.',
  read(input, sourceProperties, found) {
    const { req } = input;
    for (const sourceProperty of sourceProperties) {
      const { index, name, anyCase } = sourceProperty;
      const values = headerLines(anyCase, req);
      if (values) found.put(index, readText(sourceProperty, values, input.locationOf('header', name)));
    }
  },
};
