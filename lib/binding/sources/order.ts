import { isUtf8 } from 'node:buffer';
import { parse } from 'cookie';
import type { Request } from 'express';
import { headerLines } from '../../http/express';
import type { Claims } from '../../principal/principal';
import type { ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { asJson, isJsonObject, ownValue } from '../reading/json-text';
import { INVALID, Location } from '../reading/location';
import { NameTree } from '../reading/name-tree';
import { isCollection, needsExactNumbers, notNull, takesNull } from '../types/codec';
import { isRounded } from '../types/numbers';
import { readField, readNothing, readOptionalJson, refuseOtherNames } from '../types/read-json';
import { readNames } from '../types/read-names';
import { form, query, route } from './names';

/** The fields of a JSON object, or the whole JSON body; names are case-sensitive. */
const json: ValueSource = {
  name: 'json',
  read({ body, noted }, properties, put) {
    // A body `null` has no values, like no body at all, unless the type accepts null.
    const sent = body?.kind === 'json' ? body.value : undefined;
    const at = Location.of(noted, 'json', '');
    const [whole] = properties;
    if (whole?.spec.kind === 'fromBody') {
      const isNothing = sent === undefined || (sent === null && !takesNull(whole.codec) && !whole.refusesNull);
      if (!isNothing) put(whole, readOptionalJson(whole, sent, at));
      return;
    }
    const fields = sent ?? {};
    if (isJsonObject(fields)) {
      for (const property of properties) put(property, readField(property, fields, at));
      if (noted.refusesUnknown) refuseOtherNames(properties, fields, at);
    } else {
      at.failValue(fields, 'JSON object');
      // It has been reported; do not report each of its fields as missing, too.
      for (const property of properties) put(property, INVALID);
    }
  },
};

/** The text of the body. */
const text: ValueSource = {
  name: 'body',
  read({ body }, properties, put) {
    for (const property of properties) if (body?.kind === 'text') put(property, body.text);
  },
};

/** The claims of the caller; claim types are case-insensitive. */
const claim: ValueSource = {
  name: 'claim',
  missing: 'The caller does not have this claim.',
  read(context, properties, put) {
    const claims = context.endpoint.options.claims(context.req);
    if (!claims) return;
    const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
    for (const property of properties) {
      const { name, anyCase, codec } = property;
      const value = ownOrInherited(claims, name) ?? byType.get(anyCase);
      if (value === undefined || (value === null && !takesNull(codec))) continue;
      const at = Location.of(context.noted, 'claim', name);
      const read = readClaim(value, property, at);
      // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
      put(property, read === undefined ? (readNothing(property, at, claim.missing) ?? INVALID) : read);
    }
  },
};

/** Reads a claim by its exact name, which can also be an inherited getter of the principal's class. */
function ownOrInherited(claims: Claims, type: string): unknown {
  return Object.hasOwn(claims, type) || !(type in Object.prototype) ? claims[type] : undefined;
}

/**
 * Reads a claim. Each element of an array is one value, and an array of one is that value, whatever is in it; only a
 * single text may hold several values.
 */
function readClaim(claimed: unknown, property: SourceProperty, at: Location): unknown {
  const { codec } = property;
  const isList = isCollection(codec);
  const isSchema = notNull(codec).kind === 'schema';
  const json: unknown = Array.isArray(claimed) ? claimed.map(asJson) : asJson(claimed);
  const claim: unknown = Array.isArray(json) && json.length === 1 && !isList && !isSchema ? json[0] : json;
  const all: unknown[] = [claim].flat();
  if (all.length === 0 && !isList && !isSchema) return undefined;
  const value = Array.isArray(claim) ? all : all[0];
  // The parser of the token may have rounded a number.
  const hasRounded = needsExactNumbers(codec) && all.some(one => typeof one === 'number' && isRounded(one));
  const isJson = all.length === 0 || hasRounded || all.some(one => typeof one === 'object');
  if (isSchema ? typeof value !== 'string' : isJson)
    return readOptionalJson(property, isList && value !== null ? all : value, at.asJson());
  return readNames(property, NameTree.of(all.map(String), Array.isArray(claim) && isList), at);
}

/**
 * The permissions of the caller: true if the caller has the permission of that exact name. No other source binds to
 * such a property, so nothing that a client sends can set it.
 */
const permission: ValueSource = {
  name: 'permission',
  missing: 'The caller does not have this permission.',
  read(context, properties, put) {
    const held = new Set(context.endpoint.options.permissions(context.req));
    for (const property of properties) {
      const { name, required } = property;
      const isRefused = required && !held.has(name);
      const at = Location.of(context.noted, 'permission', name);
      put(property, isRefused ? at.failMissing(permission.missing) : held.has(name));
    }
  },
};

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
const header: ValueSource = {
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
  return isUtf8(bytes) && bytes.toString('latin1') === line ? bytes.toString().replace(/^\ufeff/, '') : line;
}

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
const cookie: ValueSource = {
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

/** The sources in binding order: a later source overwrites values of an earlier one. */
export const sourcesInOrder: readonly ValueSource[] = [
  text,
  json,
  form,
  route,
  query,
  claim,
  header,
  cookie,
  permission,
];
