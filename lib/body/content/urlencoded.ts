import { unescape } from 'node:querystring';
import qs from 'qs';
import { Problem } from '../../problems/problem';

/**
 * One `name=value` of a query or a form, as it was sent: `a[0].b` is a name like any other here. Marks:
 * - `unreadable`: invalid percent-encoding. The name is decoded as far as possible, and the value is not the one that
 *   the client meant.
 * - `json`: a part of a form that says it is JSON; of a file that is read as a field, `file` is the name and size.
 */
export type Pair = readonly [name: string, value: string, mark?: 'unreadable' | 'json', file?: string];

/** Makes the 413 problem of a form with more fields than the limit. */
export const tooManyFields = (limit: number): Problem =>
  new Problem('body-too-large', `The form has more than ${limit} fields.`);

/**
 * Reads `a=1&b=2` text. qs decodes each pair by itself: given all at once, it would nest them, change the shape of the
 * result at its own limits (more than 20 items become an object), and take quadratic time for a repeated name.
 * @param limit at most so many pairs.
 * @param tooMany makes the problem that is thrown when there are more. Default: that of a form.
 */
export function readPairs(text: string, limit: number, tooMany = tooManyFields): Pair[] {
  const parts = text.split('&', limit + 1);
  if (parts.length > limit) throw tooMany(limit);
  return parts.filter(part => part !== '').map(pairIn);
}

/** Splits `name=value`; the value is undefined if there is no equals sign. */
export function splitAtEquals(part: string): readonly [name: string, value: string | undefined] {
  const equals = part.indexOf('=');
  return equals < 0 ? [part, undefined] : [part.slice(0, equals), part.slice(equals + 1)];
}

/** Text in which nothing is encoded and no name has brackets: qs takes 4 µs for it, and changes nothing. */
const PLAIN = /^[^%+[\]]*$/;

const OPTIONS = { depth: 0, parseArrays: false, plainObjects: true, allowPrototypes: true } as const;

function pairIn(part: string): Pair {
  const { 0: name, 1: value = '' } = splitAtEquals(part);
  if (PLAIN.test(part)) return [name, value];
  try {
    // Throws for `%`, `%zz` and invalid UTF-8. qs would leave those as they are: `%zz` would read like `%25zz`.
    decodeURIComponent(part);
  } catch {
    return [leniently(name), leniently(value), 'unreadable'];
  }
  // The `_` keeps qs from splitting a name that begins with a bracket; `=` in the value is escaped, because qs takes
  // `]=` for the end of the name even there.
  const decoded = qs.parse(`_${name}=${value.replaceAll('=', '%3D')}`, OPTIONS) as Record<string, string>;
  return Object.entries(decoded).map(([key, text]): Pair => [key.slice(1), text])[0] ?? [name, value];
}

/** Decodes as far as possible, with replacement characters for bytes that are no text. */
const leniently = (text: string): string => unescape(text.replaceAll('+', ' '));
