import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { parse } from 'content-type';
import { Problem } from '../../problems/problem';

/** The kinds of body that the middlewares distinguish. */
export type BodyKind = 'json' | 'multipart' | 'urlencoded' | 'other';

/**
 * A media type (RFC 9110, section 8.3.1). Type, names of parameters and the charset are in lower case: their case says
 * nothing.
 */
export interface MediaType {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly kind: BodyKind;
}

const FORMS: ReadonlyMap<string, BodyKind> = new Map([
  ['multipart/form-data', 'multipart'],
  ['application/x-www-form-urlencoded', 'urlencoded'],
]);

/** Returns the media type of the request's body; an empty type if the request does not declare one. */
export const mediaTypeOf = (req: IncomingMessage): MediaType => mediaTypeIn(req.headers['content-type'] ?? '');

/** The media type that was read last: most requests have the same one as the request before. */
let last: (MediaType & { readonly text: string }) | undefined;

/** Reads a media type as headers have it. */
export function mediaTypeIn(text: string): MediaType {
  if (last?.text === text) return last;
  const { type, parameters } = parse(text);
  if (parameters['charset'] !== undefined) parameters['charset'] = parameters['charset'].toLowerCase();
  last = { text, type, parameters, kind: isJsonType(type) ? 'json' : (FORMS.get(type) ?? 'other') };
  return last;
}

/** Returns true for `application/json` and every type with the suffix `+json` (RFC 6839, section 3.1). */
export const isJsonType = (type: string): boolean => type === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type);

/**
 * Returns true if the request declares a length above zero or a transfer coding (RFC 9112, section 6.3), or if a body
 * of it was read. The headers as they were sent count, too: a middleware may remove the length of a body.
 */
export function hasBody(req: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  if (coding !== undefined || Number(length ?? 0) > 0 || req.readableDidRead) return true;
  // Adapters may have none of these.
  const { headersDistinct: sent = {} } = req as Partial<IncomingMessage>;
  return sent['transfer-encoding'] !== undefined || Number(sent['content-length']?.[0] ?? 0) > 0;
}

/** Returns the bytes of a body as the client declares them; undefined if only its end tells (RFC 9112, section 6.3). */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return headers['transfer-encoding'] === undefined && length !== undefined ? Number(length) : undefined;
}

/** Makes the 413 problem of a body over the limit. */
export const bodyTooLarge = (limit: number): Problem =>
  new Problem('body-too-large', `The request body is larger than ${limit} bytes.`);

const decoders: ReadonlyMap<string, (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

const nameOf = (coding = ''): string => coding.trim().toLowerCase() || 'identity';

/** Returns true if a `Content-Encoding` changes the bytes of a body. */
export const isCoded = (coding: string | undefined): boolean => nameOf(coding) !== 'identity';

/**
 * Undoes the content coding (RFC 9110, section 8.4.1).
 * @param limit bytes after decoding: a small body can decompress to a huge one.
 */
export async function uncompressed(bytes: Buffer, coding: string | undefined, limit: number): Promise<Buffer> {
  const name = nameOf(coding);
  const decode = decoders.get(name);
  if (name === 'identity') return bytes;
  if (!decode)
    throw new Problem(
      'body-unsupported',
      `The content encoding "${name.slice(0, 40)}" is not supported; send gzip, deflate, br or none.`,
    );
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(limit);
    throw new Problem('body-malformed', `The body is not valid ${name} data.`, { cause: error });
  }
}

/** Decodes UTF-8, as JSON is (RFC 8259, section 8.1) and every other text must be; drops a leading byte order mark. */
export function decodedText(bytes: Buffer, { parameters }: Pick<MediaType, 'parameters'> = { parameters: {} }): string {
  const charset = parameters['charset'] ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    throw new Problem('body-unsupported', `The charset "${charset.slice(0, 40)}" is not supported; send UTF-8.`);
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new Problem('body-malformed', 'The body is not valid UTF-8; send UTF-8.', { cause: error });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
