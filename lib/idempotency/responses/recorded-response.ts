import { ServerResponse } from 'node:http';

/** A response as it was sent: what a duplicate of the request is answered with. */
export interface RecordedResponse {
  readonly status: number;
  /** The reason phrase, only where the handler set one of its own. */
  readonly reason?: string;
  /** Header lines in the order and spelling they were sent; several values make several lines. */
  readonly headers: readonly HeaderLine[];
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
const PER_EXCHANGE = new Set(['date', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'upgrade']);

const node = ServerResponse.prototype;

/** Node has this method since 15.4; its types have it on requests only. */
type WithRawNames = ServerResponse & { getRawHeaderNames(): string[] };

/** The header lines that are set on a response and belong to its record. */
export function headersOf(res: ServerResponse): HeaderLine[] {
  return (res as WithRawNames).getRawHeaderNames()
    .filter(name => !PER_EXCHANGE.has(name.toLowerCase()))
    .map((name): HeaderLine => {
      const value = res.getHeader(name) ?? '';
      return [name, Array.isArray(value) ? value.map(String) : String(value)];
    });
}

/**
 * Sends a recorded response. The header lines are exactly the recorded ones: what middleware before us has set on this
 * response gives way, or the replay would differ from the original.
 */
export function replay({ status, reason, headers, impliedBy, body, trailers }: RecordedResponse, res: ServerResponse, replayedHeader: string | false): void {
  // Node's own methods: what middlewares make of a header has been made of the recorded ones already.
  for (const [name] of headersOf(res)) node.removeHeader.call(res, name);
  for (const [name, value] of headers) node.setHeader.call(res, name, value);
  if (replayedHeader !== false) res.setHeader(replayedHeader, 'true');
  res.statusCode = status;
  if (reason !== undefined) res.statusMessage = reason;
  // An HTTP/1.0 client knows neither chunks nor trailers.
  const hasTrailers = res.useChunkedEncodingByDefault && trailers.length > 0;
  if (!res.useChunkedEncodingByDefault) res.removeHeader('Trailer');
  // The head is written by what wrote it then: middlewares before us may add to it, or change the content, until that; and node
  // adds a Content-Length only where `end` writes it.
  if (impliedBy === undefined) res.writeHead(status);
  else if (impliedBy === 'write') res.write(body);
  if (hasTrailers) res.addTrailers(trailers as [string, string][]);
  res.end(impliedBy === 'write' || body.length === 0 ? undefined : body);
}
