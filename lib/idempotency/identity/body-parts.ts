import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '../../basics/bytes';
import { decodedText, isCoded } from '../../body/content/decode';
import { bodyKindOf, mediaTypeOf, type MediaType } from '../../body/content/media-type';
import { formLeftAsText } from '../../body/left-behind';
import { receive } from '../../body/receive';
import { allBytes, openReceived, sizeOf, type Received, type ReceivedBytes } from '../../body/stream/received';
import { Problem } from '../../problems/problem';
import { hashOfForm, leftFileParts, measureForm } from './form-parts';
import { canonicalJson, canonicalValue } from './json-value';
import { pairsInOrder } from './name-order';
import { parsedParts } from './parsed-body';

/** The options that decide how bodies are compared. */
export interface BodyOptions {
  readonly maxRequestBytes: number;
  readonly sameBody: 'bytes' | 'json';
  readonly includeFileContents: boolean;
}

/**
 * Returns the parts of the body that take part in the cache key:
 * - of a form, its fields by name; of files the field, name and size, and the content only with `includeFileContents`
 *   and of those of JSON, which may be data: generated clients send objects as such files;
 * - of any other body, and of a form that cannot be read, media type and raw bytes; of JSON the value with `sameBody`;
 * - of a body that an earlier middleware has parsed, the result of its parsing.
 */
export async function bodyParts(
  req: IncomingMessage,
  res: ServerResponse,
  { maxRequestBytes, sameBody, includeFileContents }: BodyOptions,
): Promise<readonly unknown[]> {
  const received = await receive(req, res, maxRequestBytes);
  if (received.kind === 'none') return ['none'];
  const mediaType = mediaTypeOf(req);
  const kind = bodyKindOf(mediaType);
  const value = sameBody === 'json' && kind === 'json' ? valueOf(received, mediaType) : undefined;
  if (value !== undefined) return ['value', received.kind, ...typeParts(mediaType), sha256(value)];
  if (received.kind === 'parsed') {
    // A client chooses a new boundary for each attempt, and it is part of the text.
    if (typeof received.body === 'string' && kind === 'multipart') throw formLeftAsText();
    const isForm = kind === 'multipart' || kind === 'urlencoded';
    const parts = ['parsed', mediaType.type, ...parsedParts(received.body, isForm)];
    if (received.files.length === 0) return parts;
    return [...parts, hashOfForm(await leftFileParts(received.files, includeFileContents))];
  }
  const { coding = '' } = received;
  switch (kind) {
    case 'multipart':
      return ['multipart', coding, ...(await multipartParts(received, req, mediaType, includeFileContents))];
    case 'urlencoded':
      return ['urlencoded', coding, mediaType.parameters['charset'] ?? 'utf-8', ...(await urlEncodedParts(received))];
    case 'json':
    case 'other':
      return ['bytes', coding, ...(await bytesParts(received, mediaType))];
  }
}

/** Most bytes of JSON that is compared by value. */
const MOST_JSON = 1_048_576;

/** Returns the value of JSON as text; undefined for JSON that is compared by its bytes, or by what a parser left. */
function valueOf(received: Exclude<Received, { kind: 'none' }>, mediaType: MediaType): string | undefined {
  if (received.kind === 'parsed') return canonicalValue(received.body);
  if (received.kind === 'file' || received.bytes.length > MOST_JSON || isCoded(received.coding)) return undefined;
  try {
    return canonicalJson(decodedText(received.bytes, mediaType));
  } catch {
    return undefined;
  }
}

const typeParts = ({ type, parameters }: MediaType): string[] => [type, ...Object.entries(parameters).sort().flat()];

/** Bytes of a body that takes part as it is: to hash it first takes 2 µs. */
const SHORT = 4_096;

async function bytesParts(received: ReceivedBytes, mediaType: MediaType): Promise<readonly string[]> {
  return received.kind === 'bytes' && received.bytes.length <= SHORT
    ? [...typeParts(mediaType), 'content', received.bytes.toString('latin1')]
    : [...typeParts(mediaType), 'digest', await digestOf(received)];
}

/**
 * Matches the character that invalid UTF-8 is decoded to, and half of a surrogate pair, which is hashed as that
 * character: other bytes would give the same hash, so forms that contain either are compared by their bytes, too.
 */
const UNREADABLE = /[\ufffd\p{Surrogate}]/u;

/**
 * Returns the parts of a form. A client chooses a new boundary for each attempt, so if the form can be read, neither
 * the media type's parameters nor the raw bytes take part. A form that cannot be read is not refused here: a later
 * parser may accept it.
 * @throws a 503 problem when the process cannot hold its fields.
 */
async function multipartParts(
  received: ReceivedBytes,
  req: IncomingMessage,
  mediaType: MediaType,
  withContents: boolean,
): Promise<readonly string[]> {
  try {
    const form = await measureForm(received, req, withContents);
    const isExact = ![...form.fields, ...form.files].some(text => UNREADABLE.test(text));
    return isExact ? [hashOfForm(form)] : [hashOfForm(form), ...(await bytesParts(received, mediaType))];
  } catch (error) {
    if (Problem.is(error) && ['body-malformed', 'body-too-large', 'body-unsupported'].includes(error.code))
      return ['unreadable', ...(await bytesParts(received, mediaType))];
    throw error;
  }
}

/**
 * An urlencoded form that is longer, or has more fields, is compared by its bytes: no user fills in such a form,
 * Express accepts no more fields either, and parsing it would block the process.
 */
const MOST_BYTES = 262_144;
const MOST_FIELDS = 1_000;

async function urlEncodedParts(received: ReceivedBytes): Promise<string[]> {
  if (sizeOf(received) > MOST_BYTES) return ['bytes', await digestOf(received)];
  const text = (await allBytes(received)).toString('latin1');
  return text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS
    ? ['bytes', await digestOf(received)]
    : ['pairs', ...pairsInOrder(text)];
}

/** Returns the hash of the bytes. It is made only where it takes part: a form that can be read does not pay for it. */
async function digestOf(received: ReceivedBytes): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of openReceived(received)) hash.update(chunk);
  return hash.digest('hex');
}
