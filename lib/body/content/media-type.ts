import type { IncomingMessage } from 'node:http';
import { parse } from 'content-type';

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
