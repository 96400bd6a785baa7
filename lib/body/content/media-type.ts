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
}

/** Returns the media type of the request's body; an empty type if the request does not declare one. */
export function mediaTypeOf(req: IncomingMessage): MediaType {
  return mediaTypeIn(req.headers['content-type'] ?? '');
}

/** Reads a media type as headers have it. */
export function mediaTypeIn(text: string): MediaType {
  const { type, parameters } = parse(text);
  const { charset } = parameters;
  if (charset !== undefined) parameters['charset'] = charset.toLowerCase();
  return { type, parameters };
}

/** Returns the boundary that the content type of a multipart form names; empty if it names none, or is another. */
export function boundaryOf(req: IncomingMessage): string {
  const mediaType = mediaTypeOf(req);
  return bodyKindOf(mediaType) === 'multipart' ? (mediaType.parameters['boundary'] ?? '') : '';
}

/** Returns true for `application/json` and every type with the suffix `+json` (RFC 6839, section 3.1). */
export const isJsonType = (type: string): boolean => type === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type);

/** Returns the kind of body that a media type stands for. */
export function bodyKindOf({ type }: MediaType): BodyKind {
  if (isJsonType(type)) return 'json';
  if (type === 'multipart/form-data') return 'multipart';
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded';
  return 'other';
}

/**
 * Returns true if the request declares a length above zero or a transfer coding (RFC 9112, section 6.3), or had a body.
 * The headers as they were sent count, too: a middleware that replaces the body may remove its length.
 */
export function hasBody(req: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  if (coding !== undefined || Number(length ?? 0) > 0) return true;
  return req.readableDidRead || lengthSent(req) !== 0;
}

/** Returns the length of the body in bytes as the client declared it; undefined if it declared a transfer coding. */
export function lengthSent({ rawHeaders = [] }: Partial<IncomingMessage>): number | undefined {
  let length = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 14 && name.toLowerCase() === 'content-length') length = Number(rawHeaders[at + 1]);
    if (name?.length === 17 && name.toLowerCase() === 'transfer-encoding') return undefined;
  }
  return length;
}
