import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asRequest, formReader, measuring, type Form } from '../../body/form';
import { kindOf, mediaTypeOf } from '../../body/media-type';
import { allBytes, openReceived, receive, type Received } from '../../body/received';
import { canonicalPairs, splitPairs } from './canonical-pairs';

/** Bounds of a form that is measured for its key; what a DTO accepts is bounded again when it is bound. */
const measure = formReader({ storage: measuring, preservePath: true, limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 } });

/**
 * How the body takes part in the cache key.
 * - a form: its fields by name; of its files field, name and size, but not their bytes;
 * - anything else: media type and raw bytes;
 * - a body that somebody has parsed before us: what it was parsed into.
 */
export async function bodyParts(req: IncomingMessage, res: ServerResponse, limit: number): Promise<string[]> {
  const received = await receive(req, res, limit);
  if (received.kind === 'none') return ['none'];
  if (received.kind === 'parsed') return ['parsed', mediaTypeOf(req).type, digest(JSON.stringify([received.body], asJson)), ...formParts({ fields: [], files: received.files })];
  const mediaType = mediaTypeOf(req);
  const { coding = '' } = received;
  switch (kindOf(mediaType)) {
    // The boundary is chosen anew for each attempt, so neither the media type's parameters nor the raw bytes take part.
    case 'multipart': return ['multipart', coding, ...await multipartParts(received, req)];
    case 'urlencoded': return ['urlencoded', coding, mediaType.parameters['charset']?.toLowerCase() ?? 'utf-8', ...await urlEncodedParts(received)];
    case 'json':
    case 'other': return ['bytes', coding, mediaType.type, ...Object.entries(mediaType.parameters).sort().flat(), digestOf(received)];
  }
}

/** Bytes that are no UTF-8 are all read as this; forms that have it are compared by their bytes, too. */
const UNREADABLE = '\ufffd';

async function multipartParts(received: Bytes, req: IncomingMessage): Promise<string[]> {
  const parts = formParts(await measure(asRequest(openReceived(received), req)));
  return parts.some(part => part.includes(UNREADABLE)) ? [...parts, digestOf(received)] : parts;
}

function formParts({ fields, files }: Form): string[] {
  const filePairs = files.map(file => [file.fieldname, nameOf(file), String(file.size)] as const);
  return [String(fields.length), ...canonicalPairs(fields), String(files.length), ...canonicalPairs(filePairs)];
}

/**
 * Multer's name of a file, or that of express-fileupload or formidable, when they were before us.
 * @throws Error when there is none: two files must not pass for one.
 */
function nameOf(file: { originalname?: unknown; originalFilename?: unknown; name?: unknown; size?: unknown }): string {
  const name = file.originalname ?? file.originalFilename ?? file.name;
  if (typeof name !== 'string' || typeof file.size !== 'number') throw new Error('bindonce: the files in req.files have no name and size that bindonce knows. Mount it before whatever reads the form, or use multer.');
  return name;
}

type Bytes = Extract<Received, { kind: 'bytes' | 'file' }>;

/** Fields of an urlencoded form that are compared by name; Express takes no more either. Sorting a million would block the process. */
const MAX_SORTED = 1_000;

async function urlEncodedParts(received: Bytes): Promise<string[]> {
  const text = (await allBytes(received)).toString('latin1');
  return text.split('&', MAX_SORTED + 1).length > MAX_SORTED ? ['bytes', digestOf(received)] : ['pairs', ...canonicalPairs(splitPairs(text))];
}

function digestOf(received: Bytes): string {
  return received.kind === 'file' ? received.digest : digest(received.bytes);
}

const digest = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** What a parser may have made that `JSON.stringify` refuses, or writes like something else. */
function asJson(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { '@bigint': String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { '@number': String(value) };
  if (value instanceof Map) return { '@Map': [...value as Map<unknown, unknown>] };
  if (value instanceof Set) return { '@Set': [...value as Set<unknown>] };
  // A body may have such names of its own.
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).some(name => name.startsWith('@')) ? Object.fromEntries(Object.entries(value).map(([name, one]): [string, unknown] => [name.startsWith('@') ? `@${name}` : name, one])) : value;
}
