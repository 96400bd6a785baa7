import { unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { bytesIn } from '../basics/bytes';
import { isExpress4 } from '../http/express';
import { warnOnce } from '../warnings/warn-once';
import { unknownFiles } from './content/errors';
import { bodyKindOf, lengthSent, mediaTypeOf } from './content/media-type';
import type { Received } from './stream/received';

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
  if (bytes) return { kind: 'bytes', bytes, coding: undefined };
  const files = leftFiles(req);
  const isKnown = files.length > 0 || (body !== undefined && !isPlaceholder(req));
  return isKnown ? { kind: 'parsed', body, files } : undefined;
}

/** Returns the files of a form that multer has left: one, a list, or lists by their fields. */
function leftFiles(req: IncomingMessage): readonly Express.Multer.File[] {
  if (bodyKindOf(mediaTypeOf(req)) !== 'multipart') return [];
  const left = filesOn(req);
  if (!left.every(isOfMulter)) throw unknownFiles();
  return left;
}

function filesOn(req: IncomingMessage): unknown[] {
  const { file, files } = req as WithParsed;
  return [...(file ? [file] : []), ...Object.values(files ?? {}).flat()];
}

function isOfMulter(file: unknown): file is Express.Multer.File {
  const { fieldname, originalname, mimetype, size } = Object(file) as Record<string, unknown>;
  return [fieldname, originalname, mimetype].every(one => typeof one === 'string') && typeof size === 'number';
}

/** A name that multer makes by itself. Under one that the application has chosen, there may be another's file. */
const OF_MULTER = /^[\da-f]{32}$/;

/**
 * Removes the files that a multer in front has written to disk for a request whose handler does not run. It never
 * rejects.
 */
export async function removeLeftFiles(req: IncomingMessage): Promise<void> {
  for (const one of filesOn(req)) {
    if (!isOfMulter(one) || !OF_MULTER.test(one.filename)) continue;
    await unlink(one.path).catch((error: unknown) => {
      warnOnce(
        'BINDONCE_UPLOAD_LEFT',
        `idempotency: ${one.path}, a file of a duplicate request, could not be removed ` +
          `(${(error as Error).message}). Remove it, and check that the process may delete it.`,
        one.path,
      );
    });
  }
}

/** Bytes of the shortest JSON object with a property, `{"":0}`. */
const SHORTEST_PROPERTY = 6;

/**
 * Returns true for an empty object that does not stand for the body. The parsers of Express 4 leave one on every
 * request that they do not parse, and mark the others with `_body`; those of Express 5 leave nothing, and have no mark.
 * Parsers by other authors have no mark either, and some applications set `req.body ??= {}`. So an unmarked `{}` is
 * taken for a JSON body only if that is too short for a property; on Express 5 also if its length is unknown, and for a
 * form, which may have many bytes and no field.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { app, body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  if (Object.getPrototypeOf(body) !== Object.prototype) return false;
  if (!req.readableEnded) return true;
  const kind = bodyKindOf(mediaTypeOf(req));
  const isExpress5 = app !== undefined && !isExpress4(app);
  if (kind === 'urlencoded') return !isExpress5;
  // A compressed body, and a chunked one, may be longer or shorter.
  const length = req.headers['content-encoding'] === undefined ? lengthSent(req) : undefined;
  return kind !== 'json' || !(length === undefined ? isExpress5 : length < SHORTEST_PROPERTY);
}
