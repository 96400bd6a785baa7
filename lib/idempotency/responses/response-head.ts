import type { ServerResponse } from 'node:http';
import { headersOf, type HeaderLine } from './recorded-response';
import { mayHaveContent } from './response-parts';

/** The head of a response as the handler has written it, and what it says of the content that follows. */
export class ResponseHead {
  readonly status: number;
  /** Only where the handler set one of its own. */
  readonly reason: string | undefined;
  readonly headers: readonly HeaderLine[];
  readonly hasContent: boolean;
  /** True when node is left to declare the length. */
  readonly implicitLength: boolean;
  /** The declared length of the content in bytes. */
  private readonly length: number | undefined;

  /** @param isImplied whether node writes the head by itself, in an `end` before which nothing was written. */
  constructor(method: string | undefined, res: ServerResponse, isImplied: boolean) {
    const length = res.getHeader('content-length');
    this.status = res.statusCode;
    this.reason = res.statusMessage || undefined;
    this.hasContent = mayHaveContent(method, res.statusCode);
    this.headers = headersOf(res);
    this.implicitLength = isImplied && declaresLength(res);
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

/** In an implied head, node declares the length unless a header says how long the content is, or the handler has taken that header away. */
function declaresLength(res: ServerResponse): boolean {
  const { _removedContLen: isRemoved } = res as ServerResponse & { _removedContLen?: boolean };
  return isRemoved !== true && !['content-length', 'transfer-encoding', 'trailer'].some(name => res.hasHeader(name));
}
