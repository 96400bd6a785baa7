import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isExchangeOver, onExchangeEnd } from '../http/exchange-end';
import { bodyTooLarge, ClientGone, readElsewhere } from './errors';
import type { Form } from './form';
import { holdingOf, type Holding } from './holding';
import { hasBody, kindOf, markUsedUp, mediaTypeOf } from './media-type';
import { putBack, putBackFile } from './put-back';
import { chunksOf, drainRest, isReadElsewhere, otherReader } from './body-chunks';
import { Spool } from './spool';

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
  | { readonly kind: 'file'; readonly spool: Spool; readonly coding: string | undefined }
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
 * The body, read when first asked for, or at once what a parser before us made of it. What it holds in memory and on disk is
 * given back when the exchange is over.
 * @param limit bytes; a longer body is refused with 413.
 */
export function receive(req: IncomingMessage, res: ServerResponse, limit: number): Received | Promise<Received> {
  const within = (received: Received): Received => {
    if (sizeOf(received) > limit) throw bodyTooLarge(limit);
    return received;
  };
  const known = (req as WithReceived)[RECEIVED];
  if (known) return known.then(within);
  // An earlier parser has come to the end of a body of no bytes.
  if (!hasBody(req) || (req.readableEnded && !req.readableDidRead)) return { kind: 'none' };
  // What a parser has left behind needs no waiting.
  if (isLeftBehind(req)) return within(leftBehind(req));
  if (req.readableDidRead || isReadElsewhere(req)) return receiveFromOthers(req, res).then(within);
  return ((req as WithReceived)[RECEIVED] = read(req, res, limit)).then(within);
}

/** True when the body can still be streamed: nobody, we included, has touched it. */
export function isUntouched(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded && !(RECEIVED in req) && !isReadElsewhere(req);
}

/** All the bytes of a received body. */
export function allBytes(received: Extract<Received, { kind: 'bytes' | 'file' }>): Promise<Buffer> {
  return received.kind === 'file' ? buffer(received.spool.chunks()) : Promise.resolve(received.bytes);
}

/** The bytes of a received body, piece by piece. */
export async function* openReceived(
  received: Extract<Received, { kind: 'bytes' | 'file' }>,
): AsyncGenerator<Buffer, void> {
  if (received.kind === 'file') yield* received.spool.chunks();
  else yield received.bytes;
}

/**
 * Says that a form was read from the stream of a request, in which only the last byte is left. The request has no body any
 * more, and must not say that it has: a proxy behind us would announce bytes that never come.
 */
export function receivedAsForm(req: IncomingMessage, { files }: Form, body: unknown): void {
  req.read();
  markUsedUp(req);
  (req as WithReceived)[RECEIVED] = Promise.resolve({ kind: 'parsed', body, files });
}

async function read(req: IncomingMessage, res: ServerResponse, limit: number): Promise<Received> {
  const holding = holdingOf(req, res);
  try {
    if (Number(req.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit);
    return await readAll(req, res, limit, holding);
  } catch (error) {
    holding.giveBack();
    drainRest(req, res);
    throw error;
  }
}

async function readAll(req: IncomingMessage, res: ServerResponse, limit: number, holding: Holding): Promise<Received> {
  const coding = req.headers['content-encoding'];
  const chunks = bounded(req, limit);
  const inMemory: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    inMemory.push(next.value);
    size += next.value.length;
    holding.take('memory', next.value.length);
    if (size > IN_MEMORY) return { kind: 'file', coding, spool: await readToFile(req, res, inMemory, chunks, holding) };
  }
  const bytes = Buffer.concat(inMemory);
  putBack(req, bytes);
  return { kind: 'bytes', bytes, coding };
}

async function readToFile(
  req: IncomingMessage,
  res: ServerResponse,
  inMemory: Buffer[],
  rest: AsyncIterable<Buffer>,
  holding: Holding,
): Promise<Spool> {
  const spool = await Spool.of(
    (async function* all() {
      const size = inMemory.reduce((sum, { length }) => sum + length, 0);
      holding.take('disk', size);
      yield Buffer.concat(inMemory.splice(0));
      holding.giveBackMemory();
      for await (const chunk of rest) {
        holding.take('disk', chunk.length);
        yield chunk;
      }
    })(),
  );
  onExchangeEnd(req, res, () => {
    void spool.close();
  });
  putBackFile(req, spool);
  return spool;
}

/** @throws a 413 problem at the first byte over the limit. */
async function* bounded(req: IncomingMessage, limit: number): AsyncGenerator<Buffer, void> {
  let size = 0;
  for await (const chunk of chunksOf(req)) {
    size += chunk.length;
    if (size > limit) throw bodyTooLarge(limit);
    yield chunk;
  }
}

/** What the reader of a stream leaves when it is done with it; it may have gone on when `next()` was called. */
async function receiveFromOthers(req: IncomingMessage, res: ServerResponse): Promise<Received> {
  await otherReader(req);
  // When somebody has answered meanwhile, node discards the body.
  if (isExchangeOver(req, res) || (req.destroyed && !req.complete)) throw new ClientGone();
  if (req.readableEnded && !req.readableDidRead) return { kind: 'none' };
  try {
    return leftBehind(req);
  } catch (error) {
    drainRest(req, res);
    throw error;
  }
}

/** The exact bytes (`req.rawBody`) are best; what a parser made of them will do. @throws when there is neither. */
function leftBehind(req: IncomingMessage): Received {
  if (!isLeftBehind(req)) throw readElsewhere();
  const { body, rawBody } = req as WithParsed;
  // A parser that leaves bytes has unpacked them.
  if (Buffer.isBuffer(rawBody)) return { kind: 'bytes', bytes: rawBody, coding: undefined };
  if (Buffer.isBuffer(body)) return { kind: 'bytes', bytes: body, coding: undefined };
  return { kind: 'parsed', body, files: filesLeftBehind(req as WithParsed) };
}

/** True when somebody else has read the body, or is about to, and has left something of it. */
function isLeftBehind(req: IncomingMessage): boolean {
  if (!req.readableDidRead && !isReadElsewhere(req)) return false;
  const { body, rawBody } = req as WithParsed;
  return (
    Buffer.isBuffer(rawBody) ||
    (body !== undefined && !isPlaceholder(req)) ||
    filesLeftBehind(req as WithParsed).length > 0
  );
}

function filesLeftBehind({ file, files }: WithParsed): Express.Multer.File[] {
  const first = file ? [file] : [];
  return files
    ? [
        ...first,
        ...Object.entries<Express.Multer.File | readonly Express.Multer.File[]>(files).flatMap(([field, value]) =>
          [value].flat().map(one => underField(field, one)),
        ),
      ]
    : first;
}

/** Other parsers than multer keep the name of a file's field beside the file, not in it. */
function underField(field: string, file: Express.Multer.File): Express.Multer.File {
  return (file as Partial<Express.Multer.File>).fieldname === undefined
    ? Object.assign(Object.create(file) as Express.Multer.File, { fieldname: field })
    : file;
}

/**
 * On Express 4, body parsers leave an empty object on requests whose media type is none of theirs; `_body` says that they have
 * parsed one. Parsers of JSON by other authors do not say so, and `{}` may be all that was sent.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  return (
    Object.getPrototypeOf(body) === Object.prototype && !(kindOf(mediaTypeOf(req)) === 'json' && req.readableEnded)
  );
}

function sizeOf(received: Received): number {
  switch (received.kind) {
    case 'bytes':
      return received.bytes.length;
    case 'file':
      return received.spool.size;
    case 'none':
    case 'parsed':
      return 0;
  }
}
