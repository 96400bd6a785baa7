/** A response as the handler's side made it: what a duplicate of the request is answered with. */
export interface RecordedResponse {
  readonly status: number;
  /** The reason phrase, only where the handler set one of its own. */
  readonly reason?: string;
  /**
   * Header lines that the handler's side (the handler and what is mounted after `idempotency()`) has added or changed, in the
   * order and spelling they were sent; several values make several lines. Headers that earlier middlewares had set (sessions,
   * CORS, request ids) are not among them, unless they describe the body; nor are the cookies that these had set.
   */
  readonly headers: readonly HeaderLine[];
  /** Names, in lower case, of headers of earlier middlewares that the handler's side has removed or replaced; absent for none. */
  readonly removed?: readonly string[];
  /** The call that the server wrote the head for by itself; not there where the handler has written the head. */
  readonly impliedBy?: 'write' | 'end';
  /** The bytes of the content, without chunk framing; empty where the response has none (HEAD, 204, 304). */
  readonly body: Buffer;
  /** RFC 9110, section 6.5. */
  readonly trailers: readonly HeaderLine[];
}

export type HeaderLine = readonly [name: string, value: string | readonly string[]];

/**
 * Headers that belong to one exchange or one connection (RFC 9110, sections 6.6.1 and 7.6.1) and are made afresh for each.
 * `Trailer` is kept: it announces the trailers, which are replayed.
 */
const PER_EXCHANGE = new Set([
  'date',
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'te',
  'upgrade',
]);

export function isPerExchange(name: string): boolean {
  return PER_EXCHANGE.has(name.toLowerCase());
}

/** RFC 9110, section 6.4.1: responses to HEAD, and 1xx, 204 and 304 responses, have no content. */
export function mayHaveContent(method: string | undefined, status: number): boolean {
  return method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
}

/** RFC 9112, section 4: what must not be in a reason phrase. */
export const INVALID_IN_REASON = /[^\t\x20-\x7e\x80-\xff]/;
