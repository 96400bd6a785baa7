import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone } from '../http/client-gone';
import { isExchangeOver } from '../http/exchange-end';
import { isExpress4 } from '../http/express-4';
import { isReadElsewhere, otherReader } from './body-chunks';
import { drainRest } from './drain-rest';
import { readElsewhere } from './errors';
import { kindOf, mediaTypeOf } from './media-type';
import { BytesInMemory, type Received } from './received';

/** The properties that body parsers and multer set on a request. */
interface WithParsed {
  readonly app?: unknown;
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

/** Bytes of the shortest JSON object with a property, `{"":0}`. */
const SHORTEST_PROPERTY = 6;

/**
 * Returns true for an empty object that does not stand for the body. The parsers of Express 4 leave one on every request
 * that they do not parse, and mark the others with `_body`; those of Express 5 leave nothing, and have no mark. Parsers
 * by other authors have no mark either, so on Express 4 an unmarked `{}` is taken for a JSON body only if that is too
 * short for a property.
 */
function isPlaceholder(req: IncomingMessage): boolean {
  const { app, body, _body } = req as WithParsed;
  if (_body === true || typeof body !== 'object' || body === null || Object.keys(body).length > 0) return false;
  if (Object.getPrototypeOf(body) !== Object.prototype) return false;
  if (!req.readableEnded) return true;
  const kind = kindOf(mediaTypeOf(req));
  if (app !== undefined && !isExpress4(app)) return kind !== 'json' && kind !== 'urlencoded';
  return kind !== 'json' || !(Number(req.headers['content-length']) < SHORTEST_PROPERTY);
}
