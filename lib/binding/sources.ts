import { isUtf8 } from 'node:buffer';
import { parse } from 'cookie';
import type { Request } from 'express';
import { readPairs, type Pair } from '../body/content/urlencoded';
import { headerLines } from '../http/express';
import type { Claims } from '../principal/principal';
import { Problem, type ProblemLocation } from '../problems/problem';
import type { BinderContext } from './input/binder-context';
import type { SourceProperty } from './plan/plan';
import { INVALID, Location } from './reading/failures';
import { asJson, convertedText, isJsonObject, ownValue } from './reading/json-text';
import { JsonPart, NameTree, partsOf } from './reading/name-tree';
import { needsExactNumbers, takesNull } from './types/codec';
import { isRounded } from './types/numbers';
import { failUnknown, isSent, readField, readNames, readNothing } from './types/read';
import { readOptionalJson, refuseOtherNames } from './types/read';

type Properties = readonly SourceProperty[];
type Read = (context: BinderContext, properties: Properties) => void;

/** How each source is read: the values that the request has for the properties are put into the context. */
export const readFrom: Readonly<Record<ProblemLocation, Read>> = {
  ...{ body: readWholeText, json: readJsonBody, form: readForm, route: readRoute, query: readQuery },
  ...{ claim: readClaims, header: readHeaders, cookie: readCookies, permission: readPermissions },
};

function readWholeText(context: BinderContext, properties: Properties): void {
  const { body } = context;
  for (const property of properties) if (body?.kind === 'text') context.put(property, body.text);
}

/** The fields of a JSON object, or the whole JSON body; names are case-sensitive. */
function readJsonBody(context: BinderContext, properties: Properties): void {
  const { body, noted } = context;
  // A body `null` has no values, like no body at all, unless the type accepts null.
  const sent = body?.kind === 'json' ? body.value : undefined;
  const at = Location.of(noted, 'json', '');
  const whole = properties[0];
  if (whole?.kind === 'fromBody') {
    const { codec, refusesNull } = whole;
    const isNull = sent === null && codec.kind !== 'schema' && !takesNull(codec) && !refusesNull;
    if (sent !== undefined && !isNull) context.put(whole, readOptionalJson(whole, sent, at));
    return;
  }
  const fields = sent ?? {};
  if (isJsonObject(fields)) {
    for (const property of properties) context.put(property, readField(property, fields, at));
    if (noted.refusesUnknown) refuseOtherNames(properties, fields, at);
  } else {
    at.failValue(fields, 'a JSON object');
    // It has been reported; do not report each of its fields as missing, too.
    for (const property of properties) context.put(property, INVALID);
  }
}

type SentPair = Pair | readonly [name: string, file: Express.Multer.File, mark?: undefined];

/** The fields of a form and the files of a multipart form; names are case-insensitive. */
function readForm(context: BinderContext, properties: Properties): void {
  const { body } = context;
  const sent = body?.kind === 'form' || body?.kind === 'text' ? body.form : undefined;
  const pairs = sent ? [...sent.fields, ...sent.files.map((file): SentPair => [file.fieldname, file])] : [];
  readByName('form', pairs, context, properties);
}

/** Route parameters; names are case-insensitive. A wildcard is a list of segments in Express 5, text in Express 4. */
function readRoute(context: BinderContext, properties: Properties): void {
  const pairs: Pair[] = [];
  for (const name of Object.keys(context.req.params)) {
    const value: unknown = context.req.params[name];
    const text = Array.isArray(value) ? value.join('/') : convertedText(value);
    if (Array.isArray(value) && properties.some(one => one.anyCase === name.toLowerCase() && hasItems(one)))
      pairs.push(...value.map((segment): Pair => [`${name}[]`, String(segment)]));
    else if (text !== undefined) pairs.push([name, text]);
  }
  readByName('route', pairs, context, properties);
}

const hasItems = ({ codec }: SourceProperty): boolean =>
  codec.kind === 'list' || (codec.kind === 'schema' && codec.json.takes.has('array'));

/** Query parameters; names are case-insensitive. Too many are a 414 problem. */
function readQuery(context: BinderContext, properties: Properties): void {
  const { req, noted } = context;
  // The form of `req.query` depends on the application's query parser.
  const text = req.url.includes('?') ? req.url.slice(req.url.indexOf('?') + 1) : '';
  const tooMany = (limit: number) => new Problem('query-too-large', `There are more than ${limit} query parameters.`);
  readByName('query', text === '' ? [] : readPairs(text, noted.limits.fields, tooMany), context, properties);
}

/** Reads properties by their case-insensitive names. A property that takes all names gets the whole tree. */
function readByName(source: ProblemLocation, pairs: SentPair[], context: BinderContext, properties: Properties): void {
  const takesWhole = properties.some(({ isRoot }) => isRoot);
  if (pairs.length === 0 && !takesWhole) return;
  const { noted } = context;
  // A route has the parameters that its path declares.
  const refusesUnknown = noted.refusesUnknown && source !== 'route';
  const root = new NameTree();
  for (const { 0: name, 1: value, 2: mark } of pairs) {
    const parts = partsOf(name);
    const first = parts[0]?.toLowerCase();
    // These are refused under an undeclared name, too: decoded, it might be a declared one.
    if (mark === 'unreadable') {
      const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
      Location.of(noted, source, name).fail('invalid', detail);
    } else if (parts.length > noted.limits.depth + 1)
      Location.of(noted, source, name).fail('too-deep', `The name has more than ${noted.limits.depth} levels.`);
    else if (name !== '' && (takesWhole || refusesUnknown || properties.some(one => one.parts[0] === first))) {
      const isJson = mark === 'json' && value.trim() !== '';
      root.add(name, parts, isJson ? new JsonPart(value) : value);
    }
  }
  for (const property of properties) {
    const { codec, parts, isRoot } = property;
    // All of it, for one that has no name.
    const tree = root.find(parts);
    if (!tree) continue;
    const at = context.at(property);
    // An undeclared name below is no value of this one. A required object that takes all names exists without any.
    if (isRoot || isSent(codec, tree, at)) context.put(property, readNames(property, tree, at));
  }
  if (refusesUnknown) for (const name of root.others()) failUnknown(Location.of(noted, source, name));
}

/** The claims of the caller; claim types are case-insensitive. */
function readClaims(context: BinderContext, properties: Properties): void {
  const claims = context.endpoint.options.claims(context.req);
  if (!claims) return;
  const byType = new Map(Object.entries(claims).map(([type, value]) => [type.toLowerCase(), value]));
  for (const property of properties) {
    const { name, anyCase, codec } = property;
    const value = ownOrInherited(claims, name) ?? byType.get(anyCase);
    if (value === undefined || (value === null && !takesNull(codec))) continue;
    const at = context.at(property);
    const read = readClaim(value, property, at);
    // A value of the client counts only if the caller does not have the claim, whatever its value is read as.
    context.put(property, read === undefined ? (readNothing(property, at, property.missing) ?? INVALID) : read);
  }
}

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
  const [isList, isSchema] = [codec.kind === 'list', codec.kind === 'schema'];
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

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
function readHeaders(context: BinderContext, properties: Properties): void {
  for (const property of properties) {
    const lines = headerLines(property.anyCase, context.req)?.map(inUtf8);
    context.put(property, readTexts(property, lines, context));
  }
}

const readTexts = (property: SourceProperty, texts: readonly string[] | undefined, context: BinderContext): unknown =>
  texts && readNames(property, NameTree.of(texts), context.at(property));

/** Reads a header as UTF-8 where it is that: node takes each byte for a character (RFC 9110, section 5.5). */
function inUtf8(line: string): string {
  if (/^[ -~]*$/.test(line)) return line;
  const bytes = Buffer.from(line, 'latin1');
  // A middleware may have set a text that is no bytes.
  return isUtf8(bytes) && bytes.toString('latin1') === line ? bytes.toString().replace(/^\ufeff/, '') : line;
}

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
function readCookies(context: BinderContext, properties: Properties): void {
  const { req } = context;
  const cookies = parse(inUtf8(req.headers.cookie ?? ''));
  for (const property of properties) {
    const { name, signed } = property;
    // Express marks the JSON of an object with `j:`.
    const text = signed ? signedText(req, name) : cookies[name]?.replace(/^j:(?=[[{])/, '');
    context.put(property, readTexts(property, text === undefined ? undefined : [text], context));
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

/**
 * The permissions of the caller: true if the caller has the permission of that exact name. No other source binds to
 * such a property, so nothing that a client sends can set it.
 */
function readPermissions(context: BinderContext, properties: Properties): void {
  const held = new Set(context.endpoint.options.permissions(context.req));
  for (const property of properties) {
    const isHeld = held.has(property.name);
    const isRefused = property.required && !isHeld;
    context.put(property, isRefused ? context.at(property).failMissing(property.missing) : isHeld);
  }
}
