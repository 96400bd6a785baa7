import { isUtf8 } from 'node:buffer';
import { parse } from 'cookie';
import type { Request } from 'express';
import { headerLines } from '../../http/express';
import type { ValueSource } from '../input/binder-context';
import { ownValue } from '../reading/json-text';
import { Location } from '../reading/location';
import { NameTree } from '../reading/name-tree';
import { readNames } from '../types/read-names';

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
export const header: ValueSource = {
  name: 'header',
  missing: 'This header is missing from the request.',
  read({ req, noted }, properties, put) {
    for (const property of properties) {
      const { name, anyCase } = property;
      const lines = headerLines(anyCase, req);
      if (lines) put(property, readNames(property, NameTree.of(lines.map(inUtf8)), Location.of(noted, 'header', name)));
    }
  },
};

/** Reads a header as UTF-8 where it is that: node takes each byte for a character (RFC 9110, section 5.5). */
function inUtf8(line: string): string {
  const bytes = Buffer.from(line, 'latin1');
  // A middleware may have set a text that is no bytes.
  return isUtf8(bytes) && bytes.toString('latin1') === line ? bytes.toString() : line;
}

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
export const cookie: ValueSource = {
  name: 'cookie',
  missing: 'This cookie is missing from the request.',
  read({ req, noted }, properties, put) {
    const cookies = parse(inUtf8(req.headers.cookie ?? '').replace(QUOTED, '$1$2'));
    for (const property of properties) {
      const { name, spec } = property;
      const text = spec.signed ? signedText(req, name) : cookieText(cookies[name]);
      if (text !== undefined)
        put(property, readNames(property, NameTree.of([text]), Location.of(noted, 'cookie', name)));
    }
  },
};

/** A cookie whose value is in quotation marks, which are no part of it (RFC 6265, section 4.1.1). */
const QUOTED = /((?:^|;)[^=;]*=\s*)"([^;]*)"(?=\s*(?:;|$))/g;

/** Reads a cookie as Express does: without the `j:` before JSON. */
function cookieText(text: string | undefined): string | undefined {
  if (!text?.startsWith('j:')) return text;
  const json = text.slice(2);
  try {
    const value: unknown = JSON.parse(json);
    // The text itself has all digits of its numbers.
    return typeof value === 'string' ? value : json;
  } catch {
    return text;
  }
}

/** Returns a signed cookie; undefined if it is missing, or false, because it was not signed by the application. */
function signedText({ signedCookies }: Request, name: string): string | undefined {
  if (typeof signedCookies !== 'object')
    throw new Error(
      'bindRequest: a signed cookie is read from req.signedCookies, which nothing has set. Mount ' +
        'cookieParser(secret), of the package cookie-parser, before bindRequest().',
    );
  const value = ownValue(signedCookies as object, name);
  if (value === undefined || value === false) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
