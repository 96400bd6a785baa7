import type { IncomingMessage } from 'node:http';
import { parse } from 'content-type';
import { headerLines } from '../../http/header-lines';

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

/** Marks a body that was read and is no longer in the stream. Shared by every copy of this module in the process. */
const USED_UP = Symbol.for('bindonce.used-up');

/** The values of the headers that were removed from such a request. */
interface UsedUp {
  readonly [USED_UP]?: ReadonlyMap<string, readonly string[] | undefined>;
}

/** The headers that announce a body (RFC 9112, section 6). */
const ANNOUNCING = ['content-length', 'transfer-encoding'];

/**
 * Returns true if the request declares a length above zero or a transfer coding (RFC 9112, section 6.3), or had a body.
 * The headers as they were sent count, too: a middleware that replaces the body may remove its length.
 */
export function hasBody(req: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  if (coding !== undefined || Number(length ?? 0) > 0) return true;
  return USED_UP in req || req.readableDidRead || lengthSent(req) !== 0;
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

/** Removes the headers that announce a body; `hasBody` still returns true, and `removedLines` what was sent. */
export function markUsedUp(req: IncomingMessage): void {
  const removed = new Map(ANNOUNCING.map(name => [name, headerLines(name, req)]));
  Object.assign(req, { [USED_UP]: removed });
  // Node makes both of these from `rawHeaders` on first access, and relies on all of those.
  const { headers, headersDistinct } = req as { headers: object; headersDistinct?: object };
  for (const name of ANNOUNCING) {
    Reflect.deleteProperty(headers, name);
    // The requests of light-my-request have none.
    if (headersDistinct) Reflect.deleteProperty(headersDistinct, name);
  }
  req.rawHeaders = req.rawHeaders.filter(
    (_one, index, all) => !ANNOUNCING.includes((all[index - (index % 2)] ?? '').toLowerCase()),
  );
}

/** Returns the values of a header that `markUsedUp` has removed. @param name in lower case. */
export function removedLines(name: string, req: IncomingMessage): readonly string[] | undefined {
  return (req as UsedUp)[USED_UP]?.get(name);
}
