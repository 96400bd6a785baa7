import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { HeaderLine, RecordedResponse } from '../responses/recorded-response';
import { declareLength, headersBefore, headOf, trailerLines, type Head, type HeadersBefore } from './head';

/** Chunks that are joined to one: each that is kept by itself takes some 100 bytes besides its own. */
const JOINED = 1_000;

/** What is kept of a response: its head, content and trailers. */
export class Recording {
  /** Undefined until the head is taken. */
  head: Head | undefined;
  /** Bytes of the content, also of content that is too long to be kept. */
  size = 0;
  /** Undefined if the content is too long. */
  private chunks: Buffer[] | undefined = [];
  /** Number of chunks that have been joined. */
  private joined = 0;
  private trailers: readonly HeaderLine[] = [];

  /**
   * @param maxBytes bytes of the content that are kept.
   * @param before the headers as the middlewares before `idempotency()` have left them: they belong to the current
   * request.
   */
  constructor(
    private readonly res: ServerResponse,
    private readonly maxBytes: number,
    readonly before: HeadersBefore = headersBefore(res),
  ) {}

  /** Takes the head that `res` has by now. @param length of the whole content, which is declared; undefined before. */
  takeHead(length: number | undefined): Head {
    const { res, before } = this;
    if (length !== undefined) declareLength(res, length);
    return headOf(res, before);
  }

  /** Keeps a part of the content, unless the response has none, or it becomes too long. */
  keep(bytes: Buffer): void {
    if (!this.head?.hasContent || bytes.length === 0) return;
    this.size += bytes.length;
    if (this.size > this.maxBytes) this.chunks = undefined;
    const { chunks } = this;
    if (!chunks) return;
    chunks.push(bytes);
    if (chunks.length - this.joined >= JOINED) chunks.push(Buffer.concat(chunks.splice(this.joined++)));
  }

  /** Keeps the trailers, of which node sends those of the last call only. */
  keepTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    this.trailers = trailerLines(trailers);
  }

  /** True if a client that has all bytes so far considers the response complete. */
  isComplete(): boolean {
    const { head, size } = this;
    return head !== undefined && (!head.hasContent || (head.length !== undefined && size >= head.length));
  }

  /** True if bytes are missing that the head has declared. */
  get isShort(): boolean {
    const { head, size } = this;
    return head?.length !== undefined && head.hasContent && size < head.length;
  }

  /** The whole response; undefined if it could not be replayed. */
  get response(): RecordedResponse | undefined {
    const { head, chunks, trailers, size } = this;
    if (!head || !chunks || !head.isReplayable) return undefined;
    if (head.hasContent && head.length !== undefined && head.length !== size) return undefined;
    const { status, reason, headers, removed } = head;
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    return { status, reason, headers, removed, body, trailers };
  }
}
