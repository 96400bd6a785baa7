import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { after, type Awaitable } from '../basics/awaitable';
import { bytesIn } from '../basics/bytes';
import { ClientGone, onExchangeEnd } from '../http/exchange-end';
import { isExpress4 } from '../http/express';
import { bodyTooLarge, declaredLength, hasBody, mediaTypeOf } from './content/headers';
import type { Form } from './form/form';
import { BodyBytes, IN_MEMORY } from './kept-bytes';
import { removeTemporary } from './temporary-files';

/**
 * The body of one request.
 * - `none`: the request has no body.
 * - `bytes`: the whole body; `coding` is the content coding that is still to be undone.
 * - `parsed`: an earlier parser has used up the stream; this is what it left.
 */
export type Received =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: BodyBytes; readonly coding: string | undefined }
  | { readonly kind: 'parsed'; readonly body: unknown; readonly files: readonly Express.Multer.File[] };

/** Shared by every copy of this module in the process: the second middleware must find what the first one has read. */
const RECEIVED = Symbol.for('bindonce.received');

/** A request with the properties that body parsers and multer set. */
interface Incoming extends IncomingMessage {
  readonly app?: unknown;
  readonly body?: unknown;
  readonly rawBody?: unknown;
  readonly file?: unknown;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly _body?: boolean;
  [RECEIVED]?: Awaitable<Received>;
}

/**
 * Returns the body of a request. The first call reads it, and puts it back into the stream for those who read it later.
 * If an earlier parser has read it, returns what that has left.
 * @param limit bytes; a longer body is refused with 413, except for what a parser has made of it under its own limit.
 * @throws Problem with status 413, or 503 or 507 when memory or disk do not take the body; ClientGone; Error when an
 * earlier reader has left nothing of it.
 */
export function receive(req: Incoming, res: ServerResponse, limit: number): Awaitable<Received> {
  const known = req[RECEIVED];
  if (known) return after(known, received => within(limit, received));
  // The second case: an earlier parser has already read an empty body to its end.
  if (!hasBody(req) || (req.readableEnded && !req.readableDidRead)) return { kind: 'none' };
  if (isUntouched(req)) return (req[RECEIVED] = readWhole(req, res, limit));
  // A reader that is still at work may have set `req.rawBody`, or `req.body`, to what it has read so far.
  const left = req.readableEnded || !isReadElsewhere(req) ? leftBehind(req) : undefined;
  if (left) return within(limit, left);
  req.resume();
  throw readElsewhere();
}

/** Returns a received body that is within a limit. @throws a 413 problem for bytes that are not. */
export function within<R extends Received>(limit: number, received: R): R {
  if (received.kind === 'bytes' && received.bytes.size > limit) throw bodyTooLarge(limit);
  return received;
}

/** Returns true if the body can still be streamed: neither bindonce nor another reader has touched it. */
export function isUntouched(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded && !isReadElsewhere(req);
}

/** Records that a form was read from the stream of a request, which still holds the last chunk. */
export function receivedAsForm(req: IncomingMessage, { files }: Form, body: unknown): void {
  req.read();
  (req as Incoming)[RECEIVED] = { kind: 'parsed', body, files };
}

/** Reads the whole body. Its memory, or its file, is released when the exchange is over. */
async function readWhole(req: Incoming, res: ServerResponse, limit: number): Promise<Received> {
  const coding = req.headers['content-encoding'];
  const bytes = new BodyBytes((declaredLength(req) ?? 0) > IN_MEMORY);
  let isRead = false;
  onExchangeEnd(req, res, () => {
    void bytes.close();
    // As node does with a body that nobody has begun to read: only then do requests emit `end` and `close`.
    if (isRead && !isReadElsewhere(req) && Reflect.deleteProperty(req, 'read')) req.resume();
  });
  try {
    // An adapter of AWS Lambda (@codegenie/serverless-express), whose requests are complete at once, says that one is
    // not readable as soon as a middleware waits: it has to do so before the body is put back.
    if (req.complete) await turn();
    const next = readerOf(req, limit);
    for (let read = next(); read; read = next()) {
      const chunk = await read;
      const adding = chunk && bytes.add(chunk);
      if (adding) await adding;
    }
    // The exchange may have ended during the last write.
    if (bytes.isOver) throw new ClientGone();
    isRead = bytes.size > 0;
    if (isRead && !req.readable) req.readable = true;
    bytes.putBack(req);
    // A chunked body without a byte is no body, as one of length 0. From now on it is known at once.
    return (req[RECEIVED] = isRead ? { kind: 'bytes', bytes, coding } : { kind: 'none' });
  } catch (error) {
    await bytes.close();
    req.resume();
    throw error;
  }
}

/** Makes the error for a body that is gone: it must not be taken for an empty one. */
const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware, and neither req.body nor req.rawBody tells what was ' +
      'in it. (An empty object in req.body may stand for another body.) Mount it before the middleware that reads ' +
      'the body, or set req.rawBody to the bytes.',
  );

/**
 * Returns true if another reader has the stream: it flows, or is about to, to listeners of other code, or node decodes
 * what is read.
 */
function isReadElsewhere(req: IncomingMessage): boolean {
  if (req.readableEncoding || req.readableFlowing === true) return true;
  return req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/**
 * Returns a function that reads the next chunk of a body; undefined after its end. The last one is read, and stays in
 * the stream: a stream that has ended and is empty emits `end` in the next tick, and then nothing can be put back.
 * @param limit bytes.
 * @throws a 413 problem at the first byte over the limit, or at once where the client declares more; ClientGone when
 * the client disconnects before the body is complete; Error when another reader takes bytes.
 */
function readerOf(req: IncomingMessage, limit: number): () => Awaitable<Buffer | undefined> {
  // Adapters of serverless platforms set `req.complete` before the body is there, or never.
  const declared = declaredLength(req);
  if ((declared ?? 0) > limit) throw bodyTooLarge(limit);
  let size = 0;
  let last: Buffer | undefined;
  let isOver = false;
  const next = (): Awaitable<Buffer | undefined> => {
    if (isOver || (req.readableEnded && size === 0 && !req.readableDidRead)) return undefined;
    if (req.readableEnded || isReadElsewhere(req)) throw readElsewhere();
    if (req.destroyed) throw new ClientGone();
    const chunk = (req.read() as Buffer | null) ?? undefined;
    size += chunk?.length ?? 0;
    if (size > limit) throw bodyTooLarge(limit);
    last = chunk ?? last;
    isOver = declared === undefined ? req.complete && req.readableLength === 0 : size >= declared;
    if (isOver && last) req.unshift(last);
    return chunk || isOver ? chunk : moreOf(req).then(next);
  };
  return next;
}

/** Yields the chunks of a body as they arrive; see {@link readerOf}. */
export async function* chunksOf(req: IncomingMessage, limit: number): AsyncGenerator<Buffer, void> {
  const next = readerOf(req, limit);
  for (let chunk = await next(); chunk; chunk = await next()) yield chunk;
}

/** Waits for more bytes or the end. Every request ends with `close`; node emits `error` only if it has a listener. */
function moreOf(req: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const goOn = (): void => {
      // Not by `off`: behind cls-hooked (emitter-listener), that has no effect while the event is emitted.
      req.removeListener('readable', goOn).removeListener('close', goOn);
      resolve();
    };
    req.on('readable', goOn).on('close', goOn);
  });
}

/**
 * Returns what another reader of the body has left on the request: its bytes in `req.rawBody` or `req.body`, or else
 * the value that a parser has made of it, and the files of multer. Returns undefined if there is nothing of these.
 * @throws Error for files that multer has not made.
 */
export function leftBehind(req: Incoming): Received | undefined {
  const { body, rawBody } = req;
  const bytes = bytesIn(rawBody) ?? bytesIn(body);
  // A parser that leaves bytes has decompressed them.
  if (bytes) return { kind: 'bytes', bytes: new BodyBytes(false, [bytes]), coding: undefined };
  const files = mediaTypeOf(req).kind === 'multipart' ? filesOn(req) : [];
  if (!files.every(isOfMulter))
    throw new Error(
      'bindonce: req.files holds files that multer has not made. Mount bindonce before the middleware that reads the ' +
        'form, or use multer.',
    );
  const isKnown = files.length > 0 || (body !== undefined && !isPlaceholder(req));
  return isKnown ? { kind: 'parsed', body, files } : undefined;
}

/** Makes the error for a multipart form that was left as text: its boundary is in it, and files may be damaged. */
export const formLeftAsText = (): Error =>
  new Error(
    'bindonce: a middleware that is mounted earlier, such as express.text(), has left a multipart form in req.body ' +
      'as text. Mount bindonce before that middleware, or set req.rawBody to the bytes.',
  );

/** Returns the files of a form that multer has left: one, a list, or lists by their fields. */
const filesOn = ({ file, files }: Incoming): unknown[] =>
  file || files ? [file ?? [], Object.values(files ?? {})].flat(2) : [];

/** A name that multer makes by itself. Under one that the application has chosen, there may be another's file. */
const OF_MULTER = /^[\da-f]{32}$/;

/**
 * Removes the files that a multer in front has written to disk for a request whose handler does not run. It never
 * rejects.
 */
export async function removeLeftFiles(req: IncomingMessage): Promise<void> {
  for (const one of filesOn(req)) if (isOfMulter(one) && OF_MULTER.test(one.filename)) await removeTemporary(one.path);
}

function isOfMulter(file: unknown): file is Express.Multer.File {
  const { fieldname, originalname, mimetype, size } = Object(file) as Record<string, unknown>;
  return [fieldname, originalname, mimetype].every(one => typeof one === 'string') && typeof size === 'number';
}

/**
 * Returns true for an empty object that may not stand for the body. The parsers of Express 4 leave one on every request
 * that they do not parse, and mark the others with `_body`; those of Express 5 leave nothing, and have no mark. Some
 * applications set `req.body ??= {}`. So an unmarked `{}` is taken for JSON only if the body is too short for a
 * property, or, on Express 5, if nobody has said how long it is.
 */
function isPlaceholder(req: Incoming): boolean {
  const { app, body, _body } = req;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  // Multer's has no prototype.
  if (Object.getPrototypeOf(body) !== Object.prototype) return false;
  const isChunkedOn5 = req.headers['transfer-encoding'] !== undefined && app !== undefined && !isExpress4(app);
  // The shortest object with a property is `{"":0}`.
  const isEmptyJson = isChunkedOn5 || (declaredLength(req) ?? Infinity) < 6;
  return !isEmptyJson || !req.readableEnded || mediaTypeOf(req).kind !== 'json';
}
