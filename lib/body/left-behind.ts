import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesIn } from '../basics/bytes';
import { ClientGone } from '../http/client-gone';
import { isExchangeOver } from '../http/exchange-end';
import { isExpress4 } from '../http/express-4';
import { isReadElsewhere, otherReader } from './stream/body-chunks';
import { drainRest } from '../http/drain-rest';
import { bodyLeftAsText, readElsewhere } from './content/errors';
import { bodyKindOf, lengthSent, mediaTypeOf } from './content/media-type';
import { bytesOfText } from './content/text-bytes';
import { leftFiles, type WithFiles } from './left-files';
import { BytesInMemory, type Received } from './stream/received';

/** The properties that body parsers and multer set on a request. */
interface WithParsed extends WithFiles {
  readonly app?: unknown;
  body?: unknown;
  /** Where formidable's examples, and express-formidable, put the fields of a form. */
  fields?: unknown;
  rawBody?: unknown;
  _body?: boolean;
}

/**
 * Returns what another reader of the body has left on the request: the exact bytes (`req.rawBody`), or else the values
 * that a parser made of them. Returns undefined if there is neither, or no other reader.
 */
export function leftBehind(req: IncomingMessage): Received | undefined {
  if (!req.readableDidRead && !isReadElsewhere(req)) return undefined;
  const { body, rawBody, fields } = req as WithParsed;
  const bytes = bytesIn(rawBody) ?? bytesOfRawText(rawBody, req) ?? bytesIn(body) ?? formOfText(body, req);
  // A parser that leaves bytes has decompressed them.
  if (bytes) return new BytesInMemory([bytes], undefined);
  const files = leftFiles(req as WithParsed);
  if (body !== undefined && !isPlaceholder(req)) return { kind: 'parsed', body, files };
  if (areFields(fields, req)) return { kind: 'parsed', body: fields, files };
  const areFieldsKnown = body !== undefined || !files.some(isOfFormidable);
  return files.length > 0 && areFieldsKnown ? { kind: 'parsed', body, files } : undefined;
}

/**
 * Returns what the other reader of the stream leaves when it is done; it may have called `next()` before that.
 * @throws Error when it leaves nothing; ClientGone.
 */
export async function leftByOtherReader(req: IncomingMessage, res: ServerResponse): Promise<Received> {
  const isDone = await otherReader(req);
  // Once a response has been sent meanwhile, node discards the body.
  if (isExchangeOver(req, res) || (req.destroyed && !req.complete)) throw new ClientGone();
  if (req.readableEnded && !req.readableDidRead) return { kind: 'none' };
  const left = isDone ? leftBehind(req) : undefined;
  if (left) return left;
  drainRest(req, res);
  throw isDone && typeof (req as WithParsed).rawBody === 'string' ? bodyLeftAsText() : readElsewhere();
}

/** Returns the bytes of a rawBody that a parser's `verify` has kept as text. */
function bytesOfRawText(rawBody: unknown, req: IncomingMessage): Buffer | undefined {
  return typeof rawBody === 'string' ? bytesOfText(rawBody, req) : undefined;
}

/** Returns the bytes of a form that was left as text. It has to be parsed, and its boundary is not part of a key. */
function formOfText(body: unknown, req: IncomingMessage): Buffer | undefined {
  return typeof body === 'string' && isForm(req) ? bytesOfText(body, req) : undefined;
}

const isForm = (req: IncomingMessage): boolean => ['multipart', 'urlencoded'].includes(bodyKindOf(mediaTypeOf(req)));

/** Returns true if `req.fields` holds the fields of a form: applications use that name for other things, too. */
function areFields(fields: unknown, req: IncomingMessage): boolean {
  if (!isForm(req) || typeof fields !== 'object' || fields === null) return false;
  return [Object.prototype, null].includes(Object.getPrototypeOf(fields) as object | null);
}

/**
 * Returns true for a file of formidable: where the fields of its form went is unknown. Multer and express-fileupload
 * set `req.body` if there are fields.
 */
const isOfFormidable = (file: object): boolean => 'originalFilename' in file;

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
