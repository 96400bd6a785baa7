import type { IncomingMessage, ServerResponse } from 'node:http';
import { textOf, uncompressed } from '../body/decode';
import { asRequest, type Form } from '../body/form';
import { hasBody, kindOf, mediaTypeOf, type BodyKind, type MediaType } from '../body/media-type';
import { readPairs, type Pair } from '../body/pairs';
import { allBytes, isUntouched, openReceived, receive, type Received } from '../body/received';
import { Problem } from '../problems/problem';
import { after, type Awaitable } from './awaitable';
import { parseExactly } from './json-text';
import type { SettledLimits } from './limits';
import type { Settings } from './settings';

/** How a dto uses the body. */
export interface BodyUse {
  readonly json: boolean;
  readonly form: boolean;
  readonly text: boolean;
  /** JSON numbers must keep all their digits, for a `long` or a `decimal`. */
  readonly keepsDigits: boolean;
}

/** The body of a request as the dto can use it. `none`: there is none, or the dto has no use for any. */
export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** `form`: the same body once more, where it is a form that the endpoint accepts. */
  | { readonly kind: 'text'; readonly text: string; readonly form: Form | undefined }
  | { readonly kind: 'form'; readonly form: Form };

const NONE: Body = { kind: 'none' };

/**
 * Reads the body.
 * @throws a 415 problem for a kind of body that the dto cannot use, 413 when it is too large, 400 when it is malformed.
 */
export function readBody(req: IncomingMessage, res: ServerResponse, use: BodyUse, settings: Settings): Awaitable<Body> {
  if (!(use.json || use.form || use.text) || !hasBody(req)) return NONE;
  const mediaType = mediaTypeOf(req);
  const kind = kindOf(mediaType);
  if (use.text) return readTextAndForm(req, res, mediaType, accepts(kind, use, settings), settings);
  if (!accepts(kind, use, settings)) throw unsupported(mediaType, use, settings);
  switch (kind) {
    case 'json': return readJson(req, res, mediaType, use, settings);
    case 'urlencoded':
    case 'multipart': return after(readForm(req, res, mediaType, settings), form => ({ kind: 'form', form }));
    case 'other': return NONE;
  }
}

/** SPEC, "JSON body", rule 9: the text of the body goes to one property; others still bind from a form. */
async function readTextAndForm(req: IncomingMessage, res: ServerResponse, mediaType: MediaType, isAccepted: boolean, settings: Settings): Promise<Body> {
  const text = await readText(req, res, mediaType, settings);
  const isForm = isAccepted && kindOf(mediaType) !== 'json';
  return { kind: 'text', text, form: isForm ? await readForm(req, res, mediaType, settings) : undefined };
}

async function readForm(req: IncomingMessage, res: ServerResponse, mediaType: MediaType, settings: Settings): Promise<Form> {
  if (kindOf(mediaType) === 'multipart') return readMultipart(req, res, settings);
  return { fields: await readUrlEncoded(req, res, mediaType, settings), files: [] };
}

function accepts(kind: BodyKind, use: BodyUse, settings: Settings): boolean {
  switch (kind) {
    case 'json': return use.json;
    case 'multipart': return use.form && settings.allowMultipart;
    case 'urlencoded': return use.form && settings.allowUrlEncoded;
    case 'other': return false;
  }
}

function unsupported({ type }: MediaType, use: BodyUse, settings: Settings): Problem {
  const accepted = [
    use.json && 'application/json',
    accepts('multipart', use, settings) && 'multipart/form-data',
    accepts('urlencoded', use, settings) && 'application/x-www-form-urlencoded',
  ].filter(Boolean);
  // RFC 9110, section 15.5.16: the answer may name what would have been accepted.
  const what = type === '' ? 'A body without a content type' : `The content type "${type.slice(0, 80)}"`;
  if (accepted.length === 0) return new Problem('body-unsupported', `${what} is not accepted here.`);
  return new Problem('body-unsupported', `${what} is not accepted here; send ${accepted.join(' or ')}.`, { headers: { Accept: accepted.join(', ') } });
}

async function readText(req: IncomingMessage, res: ServerResponse, mediaType: MediaType, { limits }: Settings): Promise<string> {
  return textIn(await receive(req, res, limits.bodyBytes), mediaType, limits);
}

async function textIn(received: Received, mediaType: MediaType, limits: SettledLimits): Promise<string> {
  switch (received.kind) {
    case 'none': return '';
    case 'bytes':
    case 'file': return textOf(await uncompressed(await allBytes(received), received.coding, limits.bodyBytes), mediaType);
    case 'parsed': if (typeof received.body === 'string') return received.body;
  }
  throw new Error('bindonce: a plain text dto needs the raw body, but it was parsed before. Mount bindRequest() before the body parser, or set req.rawBody to the bytes.');
}

function readJson(req: IncomingMessage, res: ServerResponse, mediaType: MediaType, use: BodyUse, { limits }: Settings): Awaitable<Body> {
  return after(receive(req, res, limits.bodyBytes), received => {
    if (received.kind === 'parsed' && typeof received.body !== 'string') return { kind: 'json', value: received.body };
    return after(textIn(received, mediaType, limits), text => parseJson(text, use));
  });
}

function parseJson(text: string, use: BodyUse): Body {
  if (text.trim() === '') return NONE;
  try {
    return { kind: 'json', value: use.keepsDigits ? parseExactly(text) : JSON.parse(text) as unknown };
  } catch (error) {
    throw new Problem('body-malformed', `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`, { cause: error });
  }
}

async function readUrlEncoded(req: IncomingMessage, res: ServerResponse, mediaType: MediaType, settings: Settings): Promise<Pair[]> {
  const received = await receive(req, res, settings.limits.bodyBytes);
  if (received.kind === 'parsed' && typeof received.body !== 'string') return boundedPairs(received.body, settings.limits);
  return readPairs(await readText(req, res, mediaType, settings), settings.limits.fields);
}

/** A form that nobody has read goes straight from the connection to where files are to be stored. */
async function readMultipart(req: IncomingMessage, res: ServerResponse, { readUpload, limits }: Settings): Promise<Form> {
  if (isUntouched(req)) return readUpload(req, res);
  const received = await receive(req, res, Number.MAX_SAFE_INTEGER);
  switch (received.kind) {
    case 'none': return { fields: [], files: [] };
    case 'parsed': return { fields: boundedPairs(received.body, limits), files: received.files };
    case 'bytes':
    case 'file': return readUpload(asRequest(openReceived(received), req), res);
  }
}

function boundedPairs(body: unknown, { fields }: SettledLimits): Pair[] {
  const pairs = flatPairs(body);
  if (pairs.length > fields) throw new Problem('body-too-large', `There are more than ${fields} values.`);
  return pairs;
}

/** What a form parser before us has nested, flat again: `{ a: { b: ['1', '2'] } }` is `a[b]=1&a[b]=2`. */
function flatPairs(value: unknown, name = ''): Pair[] {
  if (typeof value === 'string') return [[name, value]];
  // Of an array, too, only what is there: multer makes one of 4 294 967 294 holes out of `t[4294967294]=x`.
  return Object.entries(value ?? {}).flatMap(([key, child]) => flatPairs(child, name === '' ? key : Array.isArray(value) && typeof child === 'string' ? name : `${name}[${key}]`));
}
