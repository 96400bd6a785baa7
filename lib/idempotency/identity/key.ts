import type { IncomingMessage } from 'node:http';
import { headerLines } from '../../http/express';
import { Problem } from '../../problems/problem';

/**
 * Reads the idempotency key (draft-ietf-httpapi-idempotency-key-header, section 2.1).
 *
 * Any text that is not blank is a key. The draft makes it a structured string, so `"abc"` and `abc` are the same key; a
 * line with a comma is one value, two lines are two.
 * @throws a 400 problem when there is no key, more than one, or one that `pattern` does not match.
 */
export function readKey(req: IncomingMessage, headerName: string, pattern: RegExp | undefined): string {
  const lines = keyLines(req, headerName);
  if (lines.length > 1)
    throw new Problem('key-repeated', `Send the ${headerName} header once; there are ${lines.length}.`);
  const key = keyIn(lines);
  if (isBlank(key)) throw keyMissing(headerName);
  // Not pattern.test(), since a pattern with the `g` or `y` flag remembers where that stopped the last time.
  if (pattern && key.search(pattern) < 0)
    // The value is not repeated: as in other headers with `key` in their name, it may be a credential.
    throw new Problem(
      'key-malformed',
      `The value of the ${headerName} header does not match the regular expression ${String(pattern)}.`,
    );
  return key;
}

export const keyMissing = (headerName: string): Problem =>
  new Problem(
    'key-missing',
    `Send the ${headerName} header: a new value for each operation, and the same value with each retry of it.`,
  );

/** Returns true when there is no key, or a blank one. Several keys do not count as missing. */
export function isKeyMissing(req: IncomingMessage, headerName: string): boolean {
  const lines = keyLines(req, headerName);
  return lines.length < 2 && isBlank(keyIn(lines));
}

const keyLines = (req: IncomingMessage, headerName: string): readonly string[] =>
  headerLines(headerName.toLowerCase(), req) ?? [];

/**
 * Finds the key between blanks. Node gives a byte of a header as a character, so `trim()` would take 0xA0, a part of
 * `à` in UTF-8, for a blank; and `[\t ]+$` would read a long run of blanks again from each of them.
 */
const keyIn = (lines: readonly string[]): string => unquoted(/[^\t ](?:.*[^\t ])?/s.exec(lines[0] ?? '')?.[0] ?? '');

const isBlank = (key: string): boolean => /^[\t ]*$/.test(key);

const STRING = /"((?:[^"\\]|\\["\\])*)"/.source;
const PARAMETER = `; *[a-z*][a-z0-9_.*-]*(?:=(?:${STRING}|[^\\s;,"]+))?`;
const STRING_ITEM = new RegExp(`^${STRING}(?:${PARAMETER})*$`);

/**
 * Unquotes a structured string: `\"` and `\\` are `"` and `\`, and parameters are ignored (RFC 9651, section 3.3.3).
 */
function unquoted(value: string): string {
  return STRING_ITEM.exec(value)?.[1]?.replace(/\\(["\\])/g, '$1') ?? value;
}
