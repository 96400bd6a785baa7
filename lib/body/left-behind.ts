import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExchangeOver } from '../http/exchange-end';
import { ClientGone } from '../http/client-gone';
import { isReadElsewhere, otherReader } from './body-chunks';
import { drainRest } from './drain-rest';
import { readElsewhere } from './errors';
import { kindOf, mediaTypeOf } from './media-type';
import { BytesInMemory, type Received } from './received';

/** The properties that body parsers and multer set on a request. */
interface WithParsed {
  body?: unknown;
  rawBody?: unknown;
  _body?: boolean;
  file?: Express.Multer.File;
  files?: readonly Express.Multer.File[] | Readonly<Record<string, readonly Express.Multer.File[]>>;
}

/**
 * Returns what another reader of the body has left on the request: the exact bytes (`req.rawBody`), or else the values
 * that a parser made of them. Returns undefined if there is neither, or no other reader.
 */
export function leftBehind(req: IncomingMessage): Received | undefined {
  if (!req.readableDidRead && !isReadElsewhere(req)) return undefined;
  const { body, rawBody } = req as WithParsed;
  // A parser that leaves bytes has decompressed them.
  if (Buffer.isBuffer(rawBody)) return new BytesInMemory([rawBody], undefined);
  if (Buffer.isBuffer(body)) return new BytesInMemory([body], undefined);
  const files = filesLeftBehind(req as WithParsed);
  const isLeft = files.length > 0 || (body !== undefined && !isPlaceholder(req));
  return isLeft ? { kind: 'parsed', body, files } : undefined;
}

/**
 * Returns what the other reader of the stream leaves when it is done; it may have called `next()` before that.
 * @throws Error when it leaves nothing; ClientGone.
 */
export async function leftByOtherReader(req: IncomingMessage, res: ServerResponse): Promise<Received> {
  await otherReader(req);
  // Once a response has been sent meanwhile, node discards the body.
  if (isExchangeOver(req, res) || (req.destroyed && !req.complete)) throw new ClientGone();
  if (req.readableEnded && !req.readableDidRead) return { kind: 'none' };
  const left = leftBehind(req);
  if (left) return left;
  drainRest(req, res);
  throw readElsewhere();
}

const NO_FILES: readonly Express.Multer.File[] = [];

function filesLeftBehind({ file, files }: WithParsed): readonly Express.Multer.File[] {
  if (!file && !files) return NO_FILES;
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
 * Returns true for the empty object that body parsers on Express 4 leave on requests of media types that they do not
 * parse; `_body` marks the bodies that they have parsed. JSON parsers by other authors do not set `_body`, so a JSON
 * body that was read to its end may really be `{}`.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  return (
    Object.getPrototypeOf(body) === Object.prototype && !(kindOf(mediaTypeOf(req)) === 'json' && req.readableEnded)
  );
}
