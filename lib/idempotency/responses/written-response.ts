import type { ServerResponse } from 'node:http';
import { BodyCopy } from './body-copy';
import type { HeadSnapshot } from './head-snapshot';
import { isPerExchange, mayHaveContent, type HeaderLine, type RecordedResponse } from './recorded-response';
import { ResponseHead } from './response-head';
import { declareNotedLength, setHeaders, type HeadersArgument } from './response-parts';

const NOTHING = Buffer.alloc(0);

/** What the handler's side has written of its response so far. */
export class WrittenResponse {
  /** The head; undefined until it is written. */
  head: ResponseHead | undefined;
  /** The `write` or `end` that made node write the implicit header. */
  private headWrittenBy: 'write' | 'end' | undefined;
  private trailers: readonly HeaderLine[] = [];
  private readonly body: BodyCopy;

  /**
   * @param before the head as earlier middlewares have left it.
   * @param maxBytes bytes of the body that are kept.
   */
  constructor(
    private readonly method: string | undefined,
    private readonly res: ServerResponse,
    private readonly before: HeadSnapshot,
    maxBytes: number,
  ) {
    this.body = new BodyCopy(maxBytes);
  }

  /** True if a client that has all bytes so far considers the response complete. */
  get isComplete(): boolean {
    return this.head?.isCompleteWith(this.body.bytes) ?? false;
  }

  /** True if no client would consider the bytes so far a complete response. */
  get isShort(): boolean {
    return this.head?.isShortWith(this.body.bytes) ?? true;
  }

  /** The whole response, when it has ended; undefined if it cannot be replayed. */
  get whole(): RecordedResponse | undefined {
    return this.head?.withBody(this.body.content, this.trailers);
  }

  /** Writes the head. @throws node's error for a header that it refuses. */
  writeHead(status: number, reason: string, headers: HeadersArgument | undefined): void {
    const { res } = this;
    // In node's order: if a header is refused, the status is set already.
    res.statusCode = Math.trunc(status);
    res.statusMessage = reason;
    if (headers) setHeaders(res, headers);
    if (this.headWrittenBy === undefined && mayHaveContent(this.method, res.statusCode)) declareNotedLength(res);
    this.head = new ResponseHead(this.method, res, this.before, this.headWrittenBy);
  }

  /** Returns the head; writes it, as node does, through all middlewares, if the handler has not. */
  headFor(call: 'write' | 'end'): ResponseHead {
    if (!this.head) {
      this.headWrittenBy = call;
      this.res.writeHead(this.res.statusCode);
    }
    return (this.head ??= new ResponseHead(this.method, this.res, this.before, call));
  }

  /**
   * Adds bytes that are written.
   * @returns those that may be sent: none for a response that must not have content, or that was complete before. Its
   * client would read them as the next response (RFC 9112, section 6.3), and the end waits until it is stored, so they
   * would have to be kept in memory.
   */
  add(bytes: Buffer): Buffer {
    const wasComplete = this.isComplete;
    if (this.head?.hasContent) this.body.add(bytes);
    return wasComplete ? NOTHING : bytes;
  }

  /** Sets the trailers, which node has accepted. It sends those of the last call only. */
  setTrailers(lines: readonly HeaderLine[]): void {
    // A replay has a date of its own.
    this.trailers = lines.filter(([name]) => !isPerExchange(name));
  }
}
