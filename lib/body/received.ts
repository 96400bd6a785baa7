import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { onExchangeEnd } from '../http/exchange-end';
import { bodyTooLarge } from './errors';
import { hasBody, kindOf, mediaTypeOf } from './media-type';
import { putBack, putBackFile } from './put-back';
import { chunksOf, refuseRest } from './read';
import { spool, type Spool } from './spool';

/**
 * The body of one request, read once.
 * - `none`: the request has no body.
 * - `bytes`, `file`: all of it, in memory or on disk, and put back into the request stream; `coding` is the content coding
 *   still to be undone.
 * - `parsed`: a parser before us used the stream up; this is what it left.
 */
export type Received =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly coding: string | undefined }
  | { readonly kind: 'file'; readonly path: string; readonly size: number; readonly digest: string; readonly coding: string | undefined }
  | { readonly kind: 'parsed'; readonly body: unknown; readonly files: readonly Express.Multer.File[] };

/** Bytes of a body that are kept in memory; a longer one is spooled to disk. */
const IN_MEMORY = 1_048_576;

/** Shared by every copy of this module in the process: the second middleware must find what the first one read. */
const RECEIVED = Symbol.for('bindonce.received');

interface WithReceived {
  [RECEIVED]?: Promise<Received>;
}

/** What body parsers and multer leave behind. */
interface WithParsed {
  body?: unknown;
  rawBody?: unknown;
  _body?: boolean;
  file?: Express.Multer.File;
  files?: readonly Express.Multer.File[] | Readonly<Record<string, readonly Express.Multer.File[]>>;
}

/**
 * The body, read when first asked for, or at once what a parser before us made of it. Temporary files are removed when the response ends or the client hangs up.
 * @param limit bytes; a longer body is refused with 413.
 */
export function receive(req: IncomingMessage, res: ServerResponse, limit: number): Received | Promise<Received> {
  const within = (received: Received): Received => {
    if (sizeOf(received) > limit) throw bodyTooLarge(limit);
    return received;
  };
  // A parser before us has come to the end of a body of no bytes.
  if (req.readableEnded && !req.readableDidRead) return { kind: 'none' };
  // What a parser has left behind needs no waiting.
  if (!(RECEIVED in req) && req.readableDidRead && hasBody(req)) return within(leftBehind(req));
  return ((req as WithReceived)[RECEIVED] ??= read(req, res, limit)).then(within);
}

/** True when the body can still be streamed: nobody, we included, has touched it. */
export function isUntouched(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded && !(RECEIVED in req);
}

/** All the bytes of a received body. */
export function allBytes(received: Extract<Received, { kind: 'bytes' | 'file' }>): Promise<Buffer> {
  return received.kind === 'file' ? readFile(received.path) : Promise.resolve(received.bytes);
}

/** The bytes of a received body as a stream. */
export function openReceived(received: Extract<Received, { kind: 'bytes' | 'file' }>): Readable {
  return received.kind === 'file' ? createReadStream(received.path) : Readable.from([received.bytes]);
}

async function read(req: IncomingMessage, res: ServerResponse, limit: number): Promise<Received> {
  if (!hasBody(req)) return { kind: 'none' };
  if (Number(req.headers['content-length'] ?? 0) > limit) throw refuseRest(req, limit);
  const coding = req.headers['content-encoding'];
  const chunks = bounded(req, limit);
  const inMemory: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    inMemory.push(next.value);
    size += next.value.length;
    if (size > IN_MEMORY) return { kind: 'file', coding, ...await readToFile(req, res, inMemory, chunks) };
  }
  const bytes = Buffer.concat(inMemory);
  putBack(req, bytes);
  return { kind: 'bytes', bytes, coding };
}

async function readToFile(req: IncomingMessage, res: ServerResponse, inMemory: readonly Buffer[], rest: AsyncIterable<Buffer>): Promise<Spool> {
  const spooled = await spool((async function* all() {
    yield* inMemory;
    yield* rest;
  })());
  const closeFile = putBackFile(req, spooled.path);
  onExchangeEnd(req, res, () => {
    closeFile();
    void spooled.remove();
  });
  return spooled;
}

/** @throws a 413 problem at the first byte over the limit. */
async function* bounded(req: IncomingMessage, limit: number): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of chunksOf(req)) {
    size += chunk.length;
    if (size > limit) throw refuseRest(req, limit);
    yield chunk;
  }
}

/**
 * The stream was used up before us. The exact bytes (`req.rawBody`) are best; what a parser made of them will do.
 * @throws when neither is there: a body that cannot be seen must not be taken for an empty one.
 */
function leftBehind(req: IncomingMessage): Received {
  const { body, rawBody } = req as WithParsed;
  // A parser that leaves bytes has unpacked them.
  if (Buffer.isBuffer(rawBody)) return { kind: 'bytes', bytes: rawBody, coding: undefined };
  if (Buffer.isBuffer(body)) return { kind: 'bytes', bytes: body, coding: undefined };
  const files = filesLeftBehind(req as WithParsed);
  if (files.length === 0 && (body === undefined || isPlaceholder(req))) {
    throw new Error('bindonce: the request body was read before this middleware and neither req.body nor req.rawBody was left behind. Mount it before whatever reads the body, or set req.rawBody to the bytes.');
  }
  return { kind: 'parsed', body, files };
}

function filesLeftBehind({ file, files }: WithParsed): Express.Multer.File[] {
  const first = file ? [file] : [];
  return files ? [...first, ...Object.entries<Express.Multer.File | readonly Express.Multer.File[]>(files).flatMap(([field, value]) => [value].flat().map(one => underField(field, one)))] : first;
}

/** Other parsers than multer keep the name of a file's field beside the file, not in it. */
function underField(field: string, file: Express.Multer.File): Express.Multer.File {
  return (file as Partial<Express.Multer.File>).fieldname === undefined ? Object.assign(Object.create(file) as Express.Multer.File, { fieldname: field }) : file;
}

/** On Express 4, body parsers leave an empty object on requests whose media type is none of theirs; `_body` says that they have parsed one. */
function isPlaceholder(req: IncomingMessage): boolean {
  const { body, _body } = req as WithParsed;
  return _body !== true && typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype && Object.keys(body).length === 0 && kindOf(mediaTypeOf(req)) === 'other';
}

function sizeOf(received: Received): number {
  switch (received.kind) {
    case 'bytes': return received.bytes.length;
    case 'file': return received.size;
    case 'none':
    case 'parsed': return 0;
  }
}
