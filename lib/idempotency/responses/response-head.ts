import type { ServerResponse } from 'node:http';
import type { HeadChanges, HeadSnapshot } from './head-snapshot';
import { mayHaveContent, type HeaderLine, type RecordedResponse } from './recorded-response';

/** The head of a response as the handler has written it, and what it says of the content that follows. */
export class ResponseHead {
  readonly status: number;
  /** Only where the handler set one of its own. */
  readonly reason: string | undefined;
  /** What the handler's side has made of the headers. */
  readonly changes: HeadChanges;
  readonly hasContent: boolean;
  /** Where node writes the head by itself: for a `write`, or for an `end` in which it declares the length. */
  readonly impliedBy: 'write' | 'end' | undefined;
  /** True under a transfer coding besides `chunked`: the bytes are coded for this exchange, and a replay has another framing. */
  readonly isCoded: boolean;
  /** The declared length of the content in bytes. */
  private readonly length: number | undefined;

  /** @param impliedBy the call that node writes the head for by itself. */
  constructor(
    method: string | undefined,
    res: ServerResponse,
    before: HeadSnapshot,
    impliedBy: 'write' | 'end' | undefined,
  ) {
    const length = res.getHeader('content-length');
    this.status = res.statusCode;
    this.reason = res.statusMessage || undefined;
    this.hasContent = mayHaveContent(method, res.statusCode);
    this.changes = before.changes();
    this.isCoded = !/^\s*(chunked\s*)?$/i.test(String(res.getHeader('Transfer-Encoding') ?? ''));
    this.impliedBy = impliedBy === 'end' && framesContent(res) ? undefined : impliedBy;
    this.length = length === undefined ? undefined : Number(length);
  }

  /** True when a client that has this many bytes of content takes the response for complete. */
  isCompleteWith(bytes: number): boolean {
    return !this.hasContent || (this.length !== undefined && bytes >= this.length);
  }

  /** True when no client would take this many bytes for a whole response. */
  isShortWith(bytes: number): boolean {
    return this.hasContent && this.length !== undefined && bytes < this.length;
  }

  /** The whole response; undefined where it cannot be replayed. */
  withBody(body: Buffer | undefined, trailers: readonly HeaderLine[]): RecordedResponse | undefined {
    if (!body || this.isCoded) return undefined;
    const {
      status,
      reason,
      impliedBy,
      changes: { headers, removed },
    } = this;
    return {
      status,
      ...(reason !== undefined && { reason }),
      headers,
      ...(removed.length > 0 && { removed }),
      ...(impliedBy && { impliedBy }),
      body,
      trailers,
    };
  }
}

/** In a head that `end` writes, node declares the length, unless the handler has framed the content itself, or taken that header away. */
function framesContent(res: ServerResponse): boolean {
  return (
    (res as ServerResponse & { _removedContLen?: boolean })._removedContLen === true ||
    res.hasHeader('Transfer-Encoding')
  );
}
