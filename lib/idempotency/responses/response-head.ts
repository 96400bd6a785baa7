import type { ServerResponse } from 'node:http';
import { headersOf, type HeaderLine } from './recorded-response';

/** RFC 9110, section 6.4.1: responses to HEAD, and 1xx, 204 and 304 responses, have no content. */
function mayHaveContent(method: string | undefined, status: number): boolean {
  return method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
}

/** The head of a response as the handler has written it, and what it says of the content that follows. */
export class ResponseHead {
  readonly status: number;
  /** Only where the handler set one of its own. */
  readonly reason: string | undefined;
  readonly headers: readonly HeaderLine[];
  readonly hasContent: boolean;
  /** Where node writes the head by itself: for a `write`, or for an `end` in which it declares the length. */
  readonly impliedBy: 'write' | 'end' | undefined;
  /** The declared length of the content in bytes. */
  private readonly length: number | undefined;

  /** @param impliedBy the call that node writes the head for by itself. */
  constructor(method: string | undefined, res: ServerResponse, impliedBy: 'write' | 'end' | undefined) {
    const length = res.getHeader('content-length');
    this.status = res.statusCode;
    this.reason = res.statusMessage || undefined;
    this.hasContent = mayHaveContent(method, res.statusCode);
    this.headers = headersOf(res);
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
}

/** In a head that `end` writes, node declares the length, unless the handler has framed the content itself, or taken that header away. */
function framesContent(res: ServerResponse): boolean {
  return (res as ServerResponse & { _removedContLen?: boolean })._removedContLen === true || res.hasHeader('Transfer-Encoding');
}
