import type { ServerResponse } from 'node:http';
import type { HeadChanges, HeadSnapshot, NodeResponse } from './head-snapshot';
import { areTooLong, mayHaveContent, type HeaderLine, type RecordedResponse } from './recorded-response';

/** The head of a response as the handler has written it, and what it declares about the content. */
export class ResponseHead {
  readonly status: number;
  /** The reason phrase, only if the handler has set one. */
  readonly reason: string | undefined;
  /** The changes of the handler's side to the headers. */
  readonly changes: HeadChanges;
  readonly hasContent: boolean;
  /**
   * The call by which a replay makes node write the implicit header, as here: a `write`, or an `end` in which node
   * declares the length.
   */
  readonly impliedBy: 'write' | 'end' | undefined;
  /** True if the handler has not called `writeHead` itself. */
  readonly isImplied: boolean;
  /**
   * True for a transfer coding other than `chunked`: the bytes are coded for this exchange, and a replay is framed
   * differently.
   */
  readonly isCoded: boolean;
  /** True for a `Trailer` header without chunks, which node refuses to send. */
  private readonly isRefused: boolean;
  /** The declared length of the content in bytes. */
  private readonly length: number | undefined;

  /** @param writtenBy the call that makes node write the implicit header. */
  constructor(
    method: string | undefined,
    res: ServerResponse,
    before: HeadSnapshot,
    writtenBy: 'write' | 'end' | undefined,
  ) {
    const length = res.getHeader('content-length');
    this.status = res.statusCode;
    this.reason = res.statusMessage || undefined;
    this.hasContent = mayHaveContent(method, res.statusCode);
    this.changes = before.changes();
    this.isCoded = !/^\s*(chunked\s*)?$/i.test(String(res.getHeader('Transfer-Encoding') ?? ''));
    this.isImplied = writtenBy !== undefined;
    this.impliedBy = writtenBy === 'end' && this.hasContent && framesContent(res) ? undefined : writtenBy;
    this.length = length === undefined ? undefined : Number(length);
    this.isRefused = res.hasHeader('Trailer') && !isChunked(res, this.hasContent && length === undefined);
  }

  /** Returns true if a client that has this many bytes of content considers the response complete. */
  isCompleteWith(bytes: number): boolean {
    return !this.hasContent || (this.length !== undefined && bytes >= this.length);
  }

  /** Returns true if no client would consider this many bytes a complete response. */
  isShortWith(bytes: number): boolean {
    return this.hasContent && this.length !== undefined && bytes < this.length;
  }

  /**
   * Returns the whole response; undefined if it cannot be replayed: the body is too long, or there are too many header
   * lines; the transfer coding is not `chunked`; the declared length is not that of the body; node refuses to send the
   * `Trailer` header; or the status is not final.
   */
  withBody(body: Buffer | undefined, trailers: readonly HeaderLine[]): RecordedResponse | undefined {
    // A store checks the same when it reads a record (`fromStored`).
    if (!body || this.isCoded || this.isRefused || !this.isFramedBy(body.length) || this.status < 200) return undefined;
    const {
      status,
      reason,
      impliedBy,
      changes: { headers, removed },
    } = this;
    if (areTooLong(headers) || areTooLong(trailers)) return undefined;
    return {
      status,
      reason,
      headers: headers.map(line => this.withoutBlanks(line)),
      removed: removed.length > 0 ? removed : undefined,
      impliedBy,
      body,
      trailers,
    };
  }

  private isFramedBy(bytes: number): boolean {
    if (this.length === undefined) return true;
    return Number.isSafeInteger(this.length) && (!this.hasContent || this.length === bytes);
  }

  /** Returns the header as node sends it: it also takes a length that was given as ` 3` or `['3']`. */
  private withoutBlanks(line: HeaderLine): HeaderLine {
    return line[0].toLowerCase() === 'content-length' ? [line[0], String(this.length)] : line;
  }
}

/** @param byDefault whether node chunks the content if client and handler allow it. */
function isChunked(res: ServerResponse, byDefault: boolean): boolean {
  if (res.hasHeader('Transfer-Encoding')) return true;
  const { useChunkedEncodingByDefault: mayBe, _removedTE: isForbidden } = res as NodeResponse;
  return byDefault && mayBe && !isForbidden;
}

/**
 * Returns true if node does not declare the length in `end`: the handler has framed the content, or removed that
 * header.
 */
function framesContent(res: ServerResponse): boolean {
  return (res as NodeResponse)._removedContLen || res.hasHeader('Transfer-Encoding');
}
