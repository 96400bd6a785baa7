import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExchangeOver } from '../http/exchange-end';
import { isReadElsewhere, otherReader } from './body-chunks';
import { drainRest } from './drain-rest';
import { ClientGone } from '../http/client-gone';
import { readElsewhere } from './errors';
import { kindOf, mediaTypeOf } from './media-type';
import type { Received } from './received';

/** The properties that body parsers and multer set on a request. */
interface WithParsed {
  body?: unknown;
  rawBody?: unknown;
  _body?: boolean;
  file?: Express.Multer.File;
  files?: readonly Express.Multer.File[] | Readonly<Record<string, readonly Express.Multer.File[]>>;
}

/** True when another reader has taken the body, or is about to, and has left something of it on the request. */
export function isLeftBehind(req: IncomingMessage): boolean {
  if (!req.readableDidRead && !isReadElsewhere(req)) return false;
  const { body, rawBody } = req as WithParsed;
  return (
    Buffer.isBuffer(rawBody) ||
    (body !== undefined && !isPlaceholder(req)) ||
    filesLeftBehind(req as WithParsed).length > 0
  );
}

/**
 * Returns what another reader has left: the exact bytes (`req.rawBody`), or else the values that a parser made of them.
 * @throws Error when there is neither.
 */
export function leftBehind(req: IncomingMessage): Received {
  if (!isLeftBehind(req)) throw readElsewhere();
  const { body, rawBody } = req as WithParsed;
  // A parser that leaves bytes has decompressed them.
  if (Buffer.isBuffer(rawBody)) return { kind: 'bytes', bytes: rawBody, coding: undefined };
  if (Buffer.isBuffer(body)) return { kind: 'bytes', bytes: body, coding: undefined };
  return { kind: 'parsed', body, files: filesLeftBehind(req as WithParsed) };
}

/** Returns what the other reader of the stream leaves when it is done; it may have called `next()` before that. */
export async function leftByOtherReader(req: IncomingMessage, res: ServerResponse): Promise<Received> {
  await otherReader(req);
  // Once a response has been sent meanwhile, node discards the body.
  if (isExchangeOver(req, res) || (req.destroyed && !req.complete)) throw new ClientGone();
  if (req.readableEnded && !req.readableDidRead) return { kind: 'none' };
  try {
    return leftBehind(req);
  } catch (error) {
    drainRest(req, res);
    throw error;
  }
}

function filesLeftBehind({ file, files }: WithParsed): Express.Multer.File[] {
  const byField = Object.entries<Express.Multer.File | readonly Express.Multer.File[]>(files ?? []);
  return [
    ...(file ? [file] : []),
    ...byField.flatMap(([field, value]) => [value].flat().map(one => underField(field, one))),
  ];
}

/** Gives a file the name of its field, which parsers other than multer keep as the key in `req.files` only. */
function underField(field: string, file: Express.Multer.File): Express.Multer.File {
  return (file as Partial<Express.Multer.File>).fieldname === undefined
    ? Object.assign(Object.create(file) as Express.Multer.File, { fieldname: field })
    : file;
}

/**
 * True for the empty object that body parsers on Express 4 leave on requests of media types that they do not parse;
 * `_body` marks the bodies that they have parsed. JSON parsers by other authors do not set `_body`, so a JSON body that
 * was read to its end may really be `{}`.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  return (
    Object.getPrototypeOf(body) === Object.prototype && !(kindOf(mediaTypeOf(req)) === 'json' && req.readableEnded)
  );
}
