import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Awaitable } from '../../basics/awaitable';
import { decodedText, uncompressed } from '../../body/content/decode';
import { describeJsonError, parseExactly } from '../../body/content/exact-json';
import { bodyKindOf, hasBody, mediaTypeOf, type BodyKind, type MediaType } from '../../body/content/media-type';
import { readPairs, tooManyFields, type Pair } from '../../body/content/urlencoded';
import { readForm, valuesByName, type Form } from '../../body/form/form';
import { chunksOf, formLeftAsText, isUntouched, leftBehind } from '../../body/receive';
import { receive, receivedAsForm, type Received } from '../../body/receive';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import type { BodyUse } from '../plan/plan';
import { convertedText } from '../reading/json-text';
import type { ResolvedLimits } from '../reading/limits';
import type { FormReader, ReadUpload } from './uploads';

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
  /** The most bytes that a multipart form may have. */
  readonly formBytes: number;
}

/** A request whose body is to be read. */
interface Incoming {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly mediaType: MediaType;
  readonly kind: BodyKind;
  /** The kinds of body that the dto can use and the endpoint accepts, and whether this is one. */
  readonly accepted: readonly (keyof typeof MEDIA_TYPES)[];
  readonly isAccepted: boolean;
  readonly use: BodyUse;
  readonly options: BodyOptions;
}

const MEDIA_TYPES = {
  json: 'application/json',
  multipart: 'multipart/form-data',
  urlencoded: 'application/x-www-form-urlencoded',
  text: 'text/plain',
} as const;

/**
 * Reads the body: streams a form, or receives the body once and parses it.
 * @throws a 415 problem for a kind of body that the dto cannot use, 413 if it is too large, 400 if it is malformed.
 */
export function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  use: BodyUse,
  options: BodyOptions,
): Awaitable<Body> {
  if (!(use.json || use.form || use.text) || !hasBody(req)) return NONE;
  const mediaType = mediaTypeOf(req);
  const kind = kindOf(mediaType, req, options);
  const { allowMultipart: multipart, allowUrlEncoded: urlencoded } = options;
  const allowed = { json: use.json, multipart: use.form && multipart, urlencoded: use.form && urlencoded };
  const accepted = (['json', 'multipart', 'urlencoded'] as const).filter(one => allowed[one]);
  const isAccepted = accepted.some(one => one === kind);
  const incoming: Incoming = { req, res, mediaType, kind, accepted, isAccepted, use, options };
  // A chunked body may turn out to be empty when it is read: an empty one is never answered with 415.
  if (!isAccepted && !use.text && req.headers['transfer-encoding'] === undefined)
    throw notAccepted(mediaType, accepted);
  const isMultipart = isAccepted && kind === 'multipart' && !use.text;
  // No one else has read the form, or needs it: it can go straight from the connection to where its files are stored.
  if (isMultipart && isUntouched(req)) return streamForm(incoming);
  return receiveBody(incoming, isMultipart ? options.formBytes : options.limits.bodyBytes);
}

/** JSON may have another media type: by `jsonTypes`, or because `express.json({ type: () => true })` has read it. */
function kindOf(mediaType: MediaType, req: IncomingMessage, { jsonTypes }: BodyOptions): BodyKind {
  const { type } = mediaType;
  if (jsonTypes.includes(type)) return 'json';
  if ((type !== '' && type !== 'text/plain') || isUntouched(req)) return bodyKindOf(mediaType);
  const left = leftBehind(req);
  return left?.kind === 'parsed' && typeof left.body !== 'string' ? 'json' : 'other';
}

/** RFC 9110, section 15.5.16: a 415 response may name what would have been accepted. */
function notAccepted({ type }: MediaType, accepted: Incoming['accepted']): Problem {
  const what = type === '' ? 'A body without a content type' : `The content type "${type.slice(0, 80)}"`;
  if (accepted.length === 0) return new Problem('body-unsupported', `${what} is not accepted here.`);
  const types = accepted.map(kind => MEDIA_TYPES[kind]);
  const headers = { Accept: types.join(', ') };
  return new Problem('body-unsupported', `${what} is not accepted here; send ${types.join(' or ')}.`, { headers });
}

/** Receives the body, and makes of it what the dto can use. */
async function receiveBody(incoming: Incoming, limit: number): Promise<Body> {
  const { req, res, kind, isAccepted, use } = incoming;
  const received = await receive(req, res, limit);
  if (received.kind === 'none' || (received.kind === 'bytes' && received.bytes.size === 0)) return NONE;
  if (use.text) {
    const text = await textIn(received, incoming);
    return { kind: 'text', text, form: isAccepted && kind !== 'json' ? await formIn(received, incoming) : undefined };
  }
  if (!isAccepted) throw notAccepted(incoming.mediaType, incoming.accepted);
  if (kind !== 'json') return { kind: 'form', form: await formIn(received, incoming) };
  // Text that an earlier parser has left is that of the body; anything else is the value that it has made of it.
  if (received.kind === 'parsed' && typeof received.body !== 'string') return { kind: 'json', value: received.body };
  return jsonIn(await textIn(received, incoming), use);
}

type Content = Exclude<Received, { kind: 'none' }>;

/** Reads the text of a JSON body. @throws a 400 problem */
export function jsonIn(text: string, use: BodyUse): Body {
  // Nothing but the blanks of JSON (RFC 8259, section 2).
  if (/^[\t\n\r ]*$/.test(text)) return NONE;
  try {
    return { kind: 'json', value: use.needsExactNumbers ? parseExactly(text) : (JSON.parse(text) as unknown) };
  } catch (error) {
    throw new Problem('body-malformed', describeJsonError('The body', text), { cause: error });
  }
}

/** Decodes the text of a received body. @throws a 400, 413 or 415 problem if it is not text within the limits. */
async function textIn(received: Content, { mediaType, options: { limits } }: Incoming): Promise<string> {
  if (received.kind === 'bytes') {
    const bytes = await received.bytes.all();
    return decodedText(await uncompressed(bytes, received.coding, limits.bodyBytes), mediaType);
  }
  // Some parsers leave the byte order mark, which `decodedText` drops, too.
  if (typeof received.body === 'string') return received.body.replace(/^\ufeff/, '');
  // The client can send another type, and a warning names the mistake in mounting.
  warnOnce(
    'BINDONCE_TEXT_IS_GONE',
    'bindRequest: plainText() needs the body as it was sent, but a parser that is mounted before bindRequest(), such ' +
      'as express.json(), has consumed it. The client got 415. Mount bindRequest() before the parser, or let the ' +
      'parser keep the bytes in req.rawBody.',
  );
  throw notAccepted(mediaType, ['text']);
}

/**
 * Reads a multipart form from the connection. A chunked body without a byte is no body.
 * @throws a 400 or 413 problem.
 */
async function streamForm(incoming: Incoming): Promise<Body> {
  const { req, options } = incoming;
  try {
    const rest = chunksOf(req, options.formBytes);
    const first = await rest.next();
    if (first.done) return NONE;
    const chunks = startingWith(first.value, rest);
    const form = await readUpload(incoming, formOptions => readForm(chunks, req, formOptions));
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

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  yield* rest;
}

/** Parses a received form, urlencoded or multipart. @throws a 400 or 413 problem. */
async function formIn(received: Content, incoming: Incoming): Promise<Form> {
  const { req, kind, options } = incoming;
  const { fields } = options.limits;
  if (received.kind === 'parsed' && typeof received.body !== 'string')
    return { fields: boundedPairs(received.body, fields), files: kind === 'multipart' ? received.files : [] };
  if (kind !== 'multipart') return { fields: readPairs(await textIn(received, incoming), fields), files: [] };
  if (received.kind === 'parsed') throw formLeftAsText();
  return readUpload(incoming, formOptions => readForm(received.bytes.pieces(), req, formOptions));
}

const readUpload = ({ req, res, use, options }: Incoming, read: FormReader): Promise<Form> =>
  options.readUpload(read, req, res, use);

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
