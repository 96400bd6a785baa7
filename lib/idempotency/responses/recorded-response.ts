import { isAscii } from 'node:buffer';

/** A response as the handler's side made it: duplicates of the request get it. */
export interface RecordedResponse {
  /** The status of the response. */
  readonly status: number;
  /** The reason phrase, only if the handler has set one. */
  readonly reason?: string;
  /**
   * Header lines that the handler, and the middlewares after `idempotency()`, have added or changed, as they were sent;
   * those of earlier middlewares (sessions, CORS) are not among them, unless they describe the body.
   */
  readonly headers: readonly HeaderLine[];
  /** Names, in lower case, of headers of earlier middlewares that the handler's side has removed. */
  readonly removed?: readonly string[];
  /** The bytes of the content; empty if the response has none. */
  readonly body: Buffer;
  /** Header lines after the content. */
  readonly trailers: readonly HeaderLine[];
}

/** A header: its name as sent, and its value, or several for several lines. */
export type HeaderLine = readonly [name: string, value: string | readonly string[]];

/**
 * Headers that belong to one exchange or one connection (RFC 9110, sections 6.6.1 and 7.6.1), so each gets new ones.
 * `Trailer` is kept: it names the trailers, which are replayed.
 */
export const PER_EXCHANGE: ReadonlySet<string> = new Set([
  ...['date', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'upgrade'],
]);

/**
 * Headers that describe the body: they belong to the response with that body, even if an earlier middleware has set
 * them. A replay takes them only from the stored response.
 */
export const OF_THE_BODY: ReadonlySet<string> = new Set([
  ...['content-length', 'content-type', 'content-encoding', 'content-range', 'trailer'],
]);

/** Returns false for responses to HEAD, and for 1xx, 204 and 304: they have no content (RFC 9110, section 6.4.1). */
export function mayHaveContent(method: string | undefined, status: number): boolean {
  return method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
}

/**
 * Returns short ASCII as text: node sends text in one piece with the head, which takes a twentieth less CPU time. (A
 * store of the application's own may return a Uint8Array, whose `toString` writes numbers.)
 */
export const asSent = (bytes: Buffer): Buffer | string =>
  Buffer.isBuffer(bytes) && bytes.length <= 4_096 && isAscii(bytes) ? bytes.toString('latin1') : bytes;
