import qs from 'qs';
import { tooManyFields } from './errors';

/**
 * One `name=value` of a query or a form, as it was sent: `a[0].b` is a name like any other here. `unreadable` marks
 * invalid percent-encoding: the name is decoded as far as possible, and the value is not the one that the client meant.
 * `item` marks the one item of a collection: the name had an index or brackets, which a parser has removed.
 */
export type Pair = readonly [name: string, value: string, ...mark: readonly ('unreadable' | 'item')[]];

/**
 * Reads `a=1&b=2` text. qs decodes each pair by itself: given all at once, it would nest them, change the shape of the
 * result at its own limits (more than 20 items become an object), and take quadratic time for a repeated name.
 * @param limit at most so many pairs.
 * @throws a 413 problem when there are more.
 */
export function readPairs(text: string, limit: number): Pair[] {
  const parts = text.split('&', limit + 1);
  if (parts.length > limit) throw tooManyFields(limit);
  const pairs: Pair[] = [];
  for (const part of parts) {
    if (part === '') continue;
    if (PLAIN.test(part)) pairs.push(plain(part));
    else if (isDecodable(part)) pairs.push(...decoded(part));
    else pairs.push(unreadable(part));
  }
  return pairs;
}

/** Text in which nothing is encoded and no name has brackets: qs takes 4 µs for it, and changes nothing. */
const PLAIN = /^[^%+[\]]*$/;

function plain(part: string): Pair {
  const [name, value = ''] = splitAtEquals(part);
  return [name, value];
}

/** Splits `name=value`; the value is undefined if there is no equals sign. */
export function splitAtEquals(part: string): readonly [name: string, value: string | undefined] {
  const equals = part.indexOf('=');
  return equals < 0 ? [part, undefined] : [part.slice(0, equals), part.slice(equals + 1)];
}

function decoded(part: string): Pair[] {
  return Object.entries(qs.parse(forQs(part), OPTIONS) as Record<string, string>).map(([name, value]): Pair => [
    name.slice(1),
    value,
  ]);
}

/** One percent-encoded character (RFC 3986, section 2.1) in well-formed UTF-8 (RFC 3629, section 4). */
const ENCODED = encodedCharacter();

function encodedCharacter(): RegExp {
  const digit = '[\\da-f]';
  const next = `%[89ab]${digit}`;
  const one = `[0-7]${digit}`;
  const two = `(?:c[2-9a-f]|d${digit})${next}`;
  const three = `(?:e0%[ab]|ed%[89]|e[1-9a-cef]%[89ab])${digit}${next}`;
  const four = `(?:f0%[9ab]|f4%8|f[1-3]%[89ab])${digit}${next}${next}`;
  return new RegExp(`%(?:${one}|${two}|${three}|${four})`, 'gi');
}

/**
 * Returns false for `%`, `%zz` and invalid UTF-8. qs would leave those as they are, so that `%zz` would read like
 * `%25zz`. The errors of `decodeURIComponent` tell the same, and take fifty times as long.
 */
const isDecodable = (part: string): boolean => !part.includes('%') || !part.replaceAll(ENCODED, '').includes('%');

function unreadable(part: string): Pair {
  const [name, value = ''] = splitAtEquals(part);
  return [leniently(name), leniently(value), 'unreadable'];
}

/** Decodes as far as possible, with replacement characters for the rest. */
function leniently(text: string): string {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[\da-f]{2})+/gi, run => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
  return bytes.replaceAll(/%(?![\da-f]{2})/gi, '\ufffd');
}

/**
 * Prepares a pair for qs. The `_` keeps qs from splitting a name that begins with a bracket; `=` in the value is
 * escaped, because qs takes `]=` for the end of the name even there.
 */
function forQs(part: string): string {
  const [name, value] = splitAtEquals(part);
  return value === undefined ? `_${name}` : `_${name}=${value.replaceAll('=', '%3D')}`;
}

const OPTIONS = { depth: 0, parseArrays: false, plainObjects: true, allowPrototypes: true } as const;
