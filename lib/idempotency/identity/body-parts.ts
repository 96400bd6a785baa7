import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asRequest, formReader, measuring, type Form } from '../../body/form';
import { kindOf, mediaTypeOf } from '../../body/media-type';
import { allBytes, openReceived, receive, type Received } from '../../body/received';
import { canonicalPairs, splitPairs } from './canonical-pairs';

/** Bounds of a form that is measured for its key; what a DTO accepts is bounded again when it is bound. */
const measure = formReader({ storage: measuring, limits: { parts: 100_000, fieldNameSize: 1_000, fieldSize: 10_485_760 } });

/**
 * How the body takes part in the cache key.
 * - a form: its fields by name; of its files field, name and size, but not their bytes;
 * - anything else: media type and raw bytes;
 * - a body that somebody has parsed before us: what it was parsed into.
 */
export async function bodyParts(req: IncomingMessage, res: ServerResponse, limit: number): Promise<string[]> {
  const received = await receive(req, res, limit);
  if (received.kind === 'none') return ['none'];
  if (received.kind === 'parsed') return ['parsed', mediaTypeOf(req).type, digest(JSON.stringify([received.body], bigintAsText)), ...formParts({ fields: [], files: received.files })];
  const mediaType = mediaTypeOf(req);
  const { coding = '' } = received;
  switch (kindOf(mediaType)) {
    // The boundary is chosen anew for each attempt, so neither the media type's parameters nor the raw bytes take part.
    case 'multipart': return ['multipart', coding, ...formParts(await measure(asRequest(openReceived(received), req)))];
    case 'urlencoded': return ['urlencoded', coding, ...await urlEncodedParts(received)];
    case 'json':
    case 'other': return ['bytes', coding, mediaType.type, ...Object.entries(mediaType.parameters).sort().flat(), digestOf(received)];
  }
}

function formParts({ fields, files }: Form): string[] {
  const filePairs = files.map(({ fieldname, originalname, size }) => [fieldname, originalname, String(size)] as const);
  return [String(fields.length), ...canonicalPairs(fields), String(files.length), ...canonicalPairs(filePairs)];
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

/** `JSON.stringify` refuses a bigint, which a reviver may have made. */
const bigintAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
