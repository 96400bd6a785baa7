import type { IncomingMessage } from 'node:http';
import { bytesIn } from '../basics/bytes';
import { isExpress4 } from '../http/express';
import { bodyKindOf, mediaTypeOf } from './content/media-type';
import { removeTemporary } from './spool/temporary-folder';
import { BodyBytes, type Received } from './stream/received';

/** The properties that body parsers and multer set on a request. */
interface WithParsed {
  readonly app?: unknown;
  body?: unknown;
  rawBody?: unknown;
  file?: unknown;
  files?: Readonly<Record<string, unknown>>;
  _body?: boolean;
}

/**
 * Returns what another reader of the body has left on the request: its bytes in `req.rawBody` or `req.body`, or else
 * the value that a parser has made of it, and the files of multer. Returns undefined if there is nothing of these.
 * @throws Error for files that multer has not made.
 */
export function leftBehind(req: IncomingMessage): Received | undefined {
  const { body, rawBody } = req as WithParsed;
  const bytes = bytesIn(rawBody) ?? bytesIn(body);
  // A parser that leaves bytes has decompressed them.
  if (bytes) return { kind: 'bytes', bytes: BodyBytes.of(bytes), coding: undefined };
  const files = leftFiles(req);
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
function leftFiles(req: IncomingMessage): readonly Express.Multer.File[] {
  if (bodyKindOf(mediaTypeOf(req)) !== 'multipart') return [];
  const left = filesOn(req);
  if (!left.every(isOfMulter))
    throw new Error(
      'bindonce: req.files holds files that multer has not made. Mount bindonce before the middleware that reads the ' +
        'form, or use multer.',
    );
  return left;
}

function filesOn(req: IncomingMessage): unknown[] {
  const { file, files } = req as WithParsed;
  return [...(file ? [file] : []), ...Object.values(files ?? {}).flat()];
}

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

/** Bytes of the shortest JSON object with a property, `{"":0}`. */
const SHORTEST_PROPERTY = 6;

/**
 * Returns true for an empty object that may not stand for the body. The parsers of Express 4 leave one on every request
 * that they do not parse, and mark the others with `_body`; those of Express 5 leave nothing, and have no mark. Some
 * applications set `req.body ??= {}`. So an unmarked `{}` is taken for JSON only if the body is too short for a
 * property, or, on Express 5, if nobody has said how long it is.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { app, body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  if (Object.getPrototypeOf(body) !== Object.prototype) return false;
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  const isExpress5 = app !== undefined && !isExpress4(app);
  const mayBeEmpty = coding === undefined ? Number(length) < SHORTEST_PROPERTY : isExpress5;
  return !req.readableEnded || !mayBeEmpty || bodyKindOf(mediaTypeOf(req)) !== 'json';
}
