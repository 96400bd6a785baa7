import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import objectHash from 'object-hash';
import { after, type Awaitable } from '../../basics/awaitable';
import { formLeftAsText } from '../../body/content/errors';
import { bodyKindOf, isJsonType, mediaTypeIn, mediaTypeOf, type MediaType } from '../../body/content/media-type';
import { fileOf } from '../../body/form/fields';
import type { Form } from '../../body/form/form';
import { measureForm } from '../../body/form/read-form';
import { receive } from '../../body/receive';
import { Holding } from '../../body/stream/holding';
import { allBytes, openReceived, sizeOf, type Received, type ReceivedBytes } from '../../body/stream/received';
import { Problem } from '../../problems/problem';
import { canonicalPairs, canonicalText } from './canonical-pairs';
import { jsonFileDigest } from './json-file';
import { parsedParts } from './parsed-body';

/**
 * Returns the parts of the body that take part in the cache key:
 * - of a form, its fields by name; of files the field, name and size, and the content only of those of JSON, which may
 *   be data: generated clients send objects as such files;
 * - of any other body, and of a form that cannot be read, media type and raw bytes;
 * - of a body that an earlier middleware has parsed, the result of its parsing.
 */
export function bodyParts(req: IncomingMessage, res: ServerResponse, limit: number): Awaitable<readonly unknown[]> {
  return after(receive(req, res, limit), received => receivedParts(received, req));
}

function receivedParts(received: Received, req: IncomingMessage): Awaitable<readonly unknown[]> {
  if (received.kind === 'none') return ['none'];
  const mediaType = mediaTypeOf(req);
  if (received.kind === 'parsed') {
    // A client chooses a new boundary for each attempt, and it is part of the text.
    const kind = bodyKindOf(mediaType);
    if (typeof received.body === 'string' && kind === 'multipart') throw formLeftAsText();
    const isForm = kind === 'multipart' || kind === 'urlencoded';
    const parts = ['parsed', mediaType.type, ...parsedParts(received.body, isForm)];
    return received.files.length > 0 ? after(leftFilesParts(received.files), files => [...parts, ...files]) : parts;
  }
  const { coding = '' } = received;
  switch (bodyKindOf(mediaType)) {
    case 'multipart':
      return after(multipartParts(received, req, mediaType), parts => ['multipart', coding, ...parts]);
    case 'urlencoded': {
      const charset = mediaType.parameters['charset'] ?? 'utf-8';
      return after(urlEncodedParts(received), parts => ['urlencoded', coding, charset, ...parts]);
    }
    case 'json':
    case 'other':
      return after(bytesParts(received, mediaType), parts => ['bytes', coding, ...parts]);
  }
}

function bytesParts(received: ReceivedBytes, { type, parameters }: MediaType): Awaitable<readonly string[]> {
  return after(contentParts(received), parts => [type, ...Object.entries(parameters).sort().flat(), ...parts]);
}

/** Bytes of a body that takes part as it is: to hash it first takes 2 µs. */
const SHORT = 4_096;

function contentParts(received: ReceivedBytes): Awaitable<string[]> {
  return received.kind === 'bytes' && received.bytes.length <= SHORT
    ? ['content', received.bytes.toString('latin1')]
    : digestOf(received).then(digest => ['digest', digest]);
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
): Promise<readonly string[]> {
  const holding = new Holding();
  try {
    const form = partsOfForm(
      await measureForm(openReceived(received), req, bytes => {
        holding.take(bytes, 'memory');
      }),
    );
    const isExact = ![...form.fields, ...form.files].some(text => UNREADABLE.test(text));
    return isExact ? [formHash(form)] : [formHash(form), ...(await bytesParts(received, mediaType))];
  } catch (error) {
    if (Problem.is(error) && ['body-malformed', 'body-too-large', 'body-unsupported'].includes(error.code))
      return ['unreadable', ...(await bytesParts(received, mediaType))];
    throw error;
  } finally {
    holding.giveBack();
  }
}

interface PartsOfForm {
  readonly fields: readonly string[];
  readonly files: readonly string[];
}

function partsOfForm({ fields, files }: Form): PartsOfForm {
  return {
    fields: canonicalPairs(fields.map(field => [field[0], valuePart(field)])),
    files: canonicalPairs(files.map(file => filePair(file))),
  };
}

/** Returns the value of a field. That of a file of JSON never equals that of a field: a handler can tell them apart. */
function valuePart(field: Form['fields'][number]): string {
  const file = fileOf(field);
  return file ? JSON.stringify([file.originalname, file.size, field[1]]) : `=${field[1]}`;
}

const filePair = (file: Express.Multer.File, content = ''): [name: string, ...values: string[]] => [
  file.fieldname,
  file.originalname,
  `${file.size}${content}`,
];

/** Returns the parts of the files that multer has left. Files of JSON may be data, so their content counts. */
async function leftFilesParts(files: readonly Express.Multer.File[]): Promise<readonly string[]> {
  const pairs = await Promise.all(
    files.map(async file =>
      filePair(file, isJsonType(mediaTypeIn(file.mimetype).type) ? await jsonFileDigest(file) : ''),
    ),
  );
  return [formHash({ fields: [], files: canonicalPairs(pairs) })];
}

const formHash = (form: PartsOfForm): string => objectHash(form, { algorithm: 'sha256' });

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
    : ['pairs', ...canonicalText(text)];
}

/** Returns the hash of the bytes. It is made only where it takes part: a form that can be read does not pay for it. */
async function digestOf(received: ReceivedBytes): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of openReceived(received)) hash.update(chunk);
  return hash.digest('hex');
}
