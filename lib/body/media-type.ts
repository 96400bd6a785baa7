import type { IncomingMessage } from 'node:http';
import { parse } from 'content-type';

/** The kinds of body that the middlewares tell apart. */
export type BodyKind = 'json' | 'multipart' | 'urlencoded' | 'other';

/** A media type (RFC 9110, section 8.3.1): type and parameter names in lower case. */
export interface MediaType {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The media type of the request's body; the empty type where the request does not say. */
export function mediaTypeOf(req: IncomingMessage): MediaType {
  return parse(req.headers['content-type'] ?? '');
}

/** JSON is `application/json` and every `+json` suffix (RFC 6839, section 3.1). */
export const isJson = (type: string): boolean => type === 'application/json' || /^[^/]+\/[^/]+\+json$/.test(type);

export function kindOf({ type }: MediaType): BodyKind {
  if (isJson(type)) return 'json';
  if (type === 'multipart/form-data') return 'multipart';
  if (type === 'application/x-www-form-urlencoded') return 'urlencoded';
  return 'other';
}

/** The body was read and is not in the stream any more. Shared by every copy of this module in the process. */
const USED_UP = Symbol.for('bindonce.used-up');

/** RFC 9112, section 6.3: a request has a body when it declares a length above zero or a transfer coding. */
export function hasBody(req: IncomingMessage): boolean {
  return (
    USED_UP in req || req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
  );
}

/** Takes the headers off a request that say that a body follows; for us it still has one. */
export function markUsedUp(req: IncomingMessage): void {
  Object.assign(req, { [USED_UP]: true });
  // Node makes both of the raw headers when they are first asked for, and counts on all of them.
  const { headers, headersDistinct } = req;
  for (const name of ['content-length', 'transfer-encoding']) {
    Reflect.deleteProperty(headers, name);
    Reflect.deleteProperty(headersDistinct, name);
  }
  req.rawHeaders = req.rawHeaders.filter(
    (_one, index, all) => !/^(content-length|transfer-encoding)$/i.test(all[index - (index % 2)] ?? ''),
  );
}
