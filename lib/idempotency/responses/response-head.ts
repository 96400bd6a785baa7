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
  /** The declared length of the content in bytes. */
  private readonly length: number | undefined;

  constructor(method: string | undefined, res: ServerResponse) {
    const length = res.getHeader('content-length');
    this.status = res.statusCode;
    this.reason = res.statusMessage || undefined;
    this.headers = headersOf(res);
    this.hasContent = mayHaveContent(method, res.statusCode);
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

/** Node adds a Content-Length inside `end`, where it knows the length, unless the head is written before; ours is. */
export function declareLength(method: string | undefined, res: ServerResponse, length: number): void {
  const isDeclared = ['content-length', 'transfer-encoding', 'trailer'].some(name => res.hasHeader(name));
  if (mayHaveContent(method, res.statusCode) && !isDeclared) res.setHeader('Content-Length', length);
}
