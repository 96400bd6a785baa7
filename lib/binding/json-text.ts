import { parse as parseLossless } from 'lossless-json';
import type { Invalid, Place } from './place';

/** JSON as it was written: numbers keep all their digits, for `long` and `decimal`. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  return parseLossless(text);
}

/** Reads JSON that stands in one text value: a query parameter, a form field, a claim, a header. */
export function jsonInText<T>(text: string, place: Place, read: (value: unknown, place: Place) => T | Invalid): T | Invalid {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch {
    return place.failValue(text, 'JSON text');
  }
  return read(value, place.asJson());
}
