import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { describeJsonError, parseExactly } from '../../body/content/exact-json';
import { decodedText, hasBody, mediaTypeOf, uncompressed } from '../../body/content/headers';
import type { BodyKind, MediaType } from '../../body/content/headers';
import { readPairs, tooManyFields, type Pair } from '../../body/content/urlencoded';
import { valuesByName, type Form } from '../../body/form/form';
import { chunksOf, formLeftAsText, isUntouched, leftBehind, receive, receivedAsForm } from '../../body/receive';
import { within, type Received } from '../../body/receive';
import { Problem } from '../../problems/problem';
import type { BodyUse } from '../plan/plan';
import { convertedText } from '../reading/json-text';
import type { ResolvedLimits } from '../reading/limits';
import type { ReadUpload } from './uploads';

/** The body of a request as the dto can use it. `none`: the request has none, or the dto uses none. */
export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** `form`: the same body, parsed, if it is a form that the endpoint accepts. */
  | { readonly kind: 'text'; readonly text: string; readonly form: Form | undefined }
  | { readonly kind: 'form'; readonly form: Form };

const NONE: Body = { kind: 'none' };

/** Which bodies an endpoint accepts. */
export interface BodyOptions {
  readonly allowMultipart: boolean;
  readonly allowUrlEncoded: boolean;
  /** In lower case. */
  readonly jsonTypes: readonly string[];
  readonly limits: ResolvedLimits;
  readonly readUpload: ReadUpload;
}

const MEDIA_TYPES = [
  ['json', 'application/json'],
  ['multipart', 'multipart/form-data'],
  ['urlencoded', 'application/x-www-form-urlencoded'],
] as const;

/** A request whose body is to be read. */
interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly use: BodyUse;
  readonly options: BodyOptions;
  readonly mediaType: MediaType;
  /** `other`: none that the dto can use and the endpoint accepts. */
  readonly kind: BodyKind;
}

type Exchange = Pick<Incoming, 'req' | 'res'>;

/**
 * Reads the body: streams a form, or receives the body once and parses it.
 * @throws a 415 problem for a kind of body that the dto cannot use, 413 if it is too large, 400 if it is malformed.
 */
export function readBody({ req, res }: Exchange, use: BodyUse, options: BodyOptions): Awaitable<Body> {
  if (!(use.json || use.form || use.text) || !hasBody(req)) return NONE;
  const mediaType = mediaTypeOf(req);
  const sent = kindOf(mediaType, req, options);
  const kind = isAccepted(sent, use, options) ? sent : 'other';
  const incoming: Incoming = { req, res, use, options, mediaType, kind };
  // A chunked body may turn out to be empty when it is read: an empty one is never answered with 415.
  if (kind === 'other' && !use.text && req.headers['transfer-encoding'] === undefined) throw notAccepted(incoming);
  const isMultipart = kind === 'multipart' && !use.text;
  // No one else has read the form, or needs it: it can go straight from the connection to where its files are stored.
  if (isMultipart && isUntouched(req)) return streamForm(incoming);
  // Whoever reads a form for its files bounds it.
  const limit = isMultipart ? Number.MAX_SAFE_INTEGER : options.limits.bodyBytes;
  return after(receive(req, res, limit), received => bodyIn(received, incoming));
}

/** JSON may have another media type: by `jsonTypes`, or because `express.json({ type: () => true })` has read it. */
function kindOf(mediaType: MediaType, req: IncomingMessage, { jsonTypes }: BodyOptions): BodyKind {
  const { type, kind } = mediaType;
  if (jsonTypes.includes(type)) return 'json';
  if ((type !== '' && type !== 'text/plain') || isUntouched(req)) return kind;
  const left = leftBehind(req);
  return left && isParsed(left) ? 'json' : 'other';
}

/** Returns true for a kind of body that the dto can use and the endpoint accepts. */
function isAccepted(kind: BodyKind, use: BodyUse, { allowMultipart, allowUrlEncoded }: BodyOptions): boolean {
  if (kind === 'json') return use.json;
  return use.form && (kind === 'multipart' ? allowMultipart : kind === 'urlencoded' && allowUrlEncoded);
}

/** RFC 9110, section 15.5.16: a 415 response may name what would have been accepted. */
function notAccepted({ use, options, mediaType: { type } }: Incoming): Problem {
  const what = type === '' ? 'A body without a content type' : `The content type "${type.slice(0, 80)}"`;
  const types = use.text
    ? ['text/plain']
    : MEDIA_TYPES.flatMap(([kind, name]) => (isAccepted(kind, use, options) ? [name] : []));
  if (types.length === 0) return new Problem('body-unsupported', `${what} is not accepted here.`);
  const headers = { Accept: types.join(', ') };
  return new Problem('body-unsupported', `${what} is not accepted here; send ${types.join(' or ')}.`, { headers });
}

/** Makes of a received body what the dto can use: at once, since a promise would cost as much as the binding. */
function bodyIn(received: Received, incoming: Incoming): Awaitable<Body> {
  if (received.kind === 'none' || (received.kind === 'bytes' && received.bytes.size === 0)) return NONE;
  const { kind, use } = incoming;
  if (kind === 'other' && !use.text) throw notAccepted(incoming);
  if (kind === 'json' && !use.text && isParsed(received)) return { kind: 'json', value: received.body };
  // A multipart form is read as text only where that is asked for.
  const needsText = use.text || !(isParsed(received) || kind === 'multipart');
  return after(needsText ? textIn(received, incoming) : '', text => {
    if (kind === 'multipart' || kind === 'urlencoded')
      return after(formIn(received, text, incoming), form =>
        use.text ? { kind: 'text', text, form } : { kind: 'form', form },
      );
    if (use.text) return { kind: 'text', text, form: undefined };
    // Nothing but the blanks of JSON (RFC 8259, section 2). Most often, the first character says that there is more.
    if ((text[0] ?? ' ') <= ' ' && /^[\t\n\r ]*$/.test(text)) return NONE;
    return { kind: 'json', value: parsedJson('The body', text, use.needsExactNumbers) };
  });
}

type Content = Exclude<Received, { kind: 'none' }>;

/** Returns true for what an earlier parser has made of a body. Text that it has left is that of the body. */
const isParsed = (received: Received): received is Extract<Received, { kind: 'parsed' }> =>
  received.kind === 'parsed' && typeof received.body !== 'string';

/** @param what begins the message. @throws a 400 problem */
export function parsedJson(what: string, text: string, exactly: boolean): unknown {
  try {
    return exactly ? parseExactly(text) : JSON.parse(text);
  } catch (error) {
    throw new Problem('body-malformed', describeJsonError(what, text), { cause: error });
  }
}

/** Decodes the text of a received body. @throws a 400, 413 or 415 problem if it is not text within the limits. */
function textIn(received: Content, incoming: Incoming): Awaitable<string> {
  if (received.kind === 'bytes') {
    const { bytes, coding } = received;
    const { options, mediaType } = incoming;
    const all = bytes.all();
    if (!isPromise(all) && coding === undefined) return decodedText(all, mediaType);
    const plain = after(all, coded => uncompressed(coded, coding, options.limits.bodyBytes));
    return after(plain, content => decodedText(content, mediaType));
  }
  // Some parsers leave the byte order mark, which `decodedText` drops, too.
  if (typeof received.body === 'string') return received.body.replace(/^\ufeff/, '');
  // A parser in front has consumed the text.
  throw notAccepted(incoming);
}

/** Reads a multipart form from the connection. @throws a 400 or 413 problem. */
async function streamForm({ req, res, use, options }: Incoming): Promise<Body> {
  try {
    const form = await options.readUpload(limit => chunksOf(req, limit), req, res, use);
    // As multer leaves it for a handler, but flat.
    const body = valuesByName(form);
    receivedAsForm(req, form, body);
    Object.assign(req, { body, files: form.files });
    return { kind: 'form', form };
  } catch (error) {
    req.resume();
    throw error;
  }
}

/** Parses a received form, urlencoded or multipart. @throws a 400 or 413 problem. */
function formIn(received: Content, text: string, incoming: Incoming): Awaitable<Form> {
  const { req, res, use, options, kind } = incoming;
  const limit = options.limits.fields;
  if (received.kind === 'parsed' && typeof received.body !== 'string')
    return { fields: boundedPairs(received.body, limit), files: kind === 'multipart' ? received.files : [] };
  if (kind !== 'multipart') return { fields: readPairs(text, limit), files: [] };
  if (received.kind === 'parsed') throw formLeftAsText();
  return options.readUpload(most => within(most, received).bytes.pieces(), req, res, use);
}

/** @throws Error for an object that keeps its values elsewhere than in properties: a form would seem to have none. */
function boundedPairs(body: unknown, limit: number): Pair[] {
  const isCollection = Symbol.iterator in Object(body) && !Array.isArray(body) && !(body instanceof URLSearchParams);
  if (isCollection)
    throw new Error(
      `bindRequest: req.body holds the form as a ${(body as object).constructor.name}, whose values ` +
        'bindRequest() cannot read. Mount it before the middleware that reads the form, or let that leave an object ' +
        'of names and values.',
    );
  const pairs = body instanceof URLSearchParams ? [...body] : flatPairs(body);
  if (pairs.length > limit) throw tooManyFields(limit);
  return pairs;
}

/**
 * Flattens the nested form of an earlier parser: `{ a: { b: ['1', '2'] } }` is `a[b]=1&a[b]=2`. An array of one text
 * was sent as `a[]` or `a[0]`, so that the text is one item.
 */
function flatPairs(value: unknown, name = ''): Pair[] {
  const text = convertedText(value);
  if (text !== undefined) return [[name, text]];
  // Only the entries of an array: multer makes one with 4 294 967 294 holes from `t[4294967294]=x`.
  const entries = Object.entries(value ?? {});
  return entries.flatMap(([key, child]) => {
    if (name === '') return flatPairs(child, key);
    const item = Array.isArray(value) ? convertedText(child) : undefined;
    if (item === undefined) return flatPairs(child, `${name}[${key}]`);
    return [[entries.length === 1 ? `${name}[0]` : name, item]];
  });
}
