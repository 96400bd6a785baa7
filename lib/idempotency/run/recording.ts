import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { isUint8Array } from 'node:util/types';
import { mayHaveContent, OF_THE_BODY, PER_EXCHANGE } from '../responses/recorded-response';
import type { HeaderLine, RecordedResponse } from '../responses/recorded-response';

export type HeadersArgument = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];
export type TrailersArgument = OutgoingHttpHeaders | readonly [string, string][];

/** The headers that earlier middlewares have set, by their names in lower case: they belong to the current request. */
export type HeadersBefore = ReadonlyMap<string, HeaderLine[1]>;

/** Returns the header lines that are set on a response, in the order and spelling in which they will be sent. */
export const linesOf = (res: ServerResponse): HeaderLine[] =>
  namesIn(res).map((name): HeaderLine => [name, textOf(res.getHeader(name) ?? '')]);

/** `getRawHeaderNames` is documented since Node 15.4, and missing in its types. */
const namesIn = (res: ServerResponse): string[] =>
  (res as ServerResponse & { getRawHeaderNames(): string[] }).getRawHeaderNames();

const textOf = (value: unknown): HeaderLine[1] => (Array.isArray(value) ? value.map(String) : String(value));

/** A part of the content. */
export type Chunk = string | Uint8Array;

/** Returns true for what node accepts, which may be of another realm (Next.js runs routes in one, Jest runs tests). */
export const isChunk = (chunk: unknown): chunk is Chunk => typeof chunk === 'string' || isUint8Array(chunk);

/** Copies the bytes of a chunk: a handler may reuse its buffer after the write. */
export function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  return isUint8Array(chunk) ? Buffer.from(chunk) : Buffer.alloc(0);
}

/** The head of a response as the handler's side has written it. */
interface Head extends Pick<RecordedResponse, 'status' | 'reason' | 'headers' | 'removed'> {
  readonly hasContent: boolean;
  /** The declared length of the content in bytes. */
  readonly length: number | undefined;
  /** False if a replay would say something else: of a transfer coding other than `chunked`, for example. */
  readonly isReplayable: boolean;
}

/** What is kept of a response: its head, content and trailers. */
export class Recording {
  /** Undefined until the head is taken. */
  head: Head | undefined;
  /** Bytes of the content, also of content that is too long to be kept. */
  size = 0;
  /** Undefined if the content is too long. */
  private chunks: Buffer[] | undefined = [];
  private trailers: readonly HeaderLine[] = [];

  /**
   * @param maxBytes bytes of the content that are kept.
   * @param before the headers as the middlewares before `idempotency()` have left them: they belong to the current
   * request.
   */
  constructor(
    private readonly res: ServerResponse,
    private readonly maxBytes: number,
    readonly before = headersBefore(res),
  ) {}

  /** Sets what `writeHead` was given; the reason may be left out. Headers are an object, pairs, or names and values. */
  setHead(status: number, reason?: string | HeadersArgument, headers?: HeadersArgument): void {
    const { res } = this;
    res.statusCode = Math.trunc(status);
    if (typeof reason === 'string') res.statusMessage = reason;
    const given: unknown = typeof reason === 'string' ? headers : (reason ?? headers);
    if (!given) return;
    let pairs = Array.isArray(given) ? given : Object.entries(given);
    if (pairs.length > 0 && !Array.isArray(pairs[0]))
      pairs = pairs.flatMap((_, at) => (at % 2 === 0 ? [pairs.slice(at, at + 2)] : []));
    for (const [name] of pairs as [string, string][]) res.removeHeader(name);
    for (const [name, value] of pairs as [string, string][]) res.appendHeader(name, value);
  }

  /** Declares the length of the content as node does, if `end` writes the head. */
  declareLength(length: number): void {
    const { res } = this;
    const isFramed = res.hasHeader('Content-Length') || res.hasHeader('Transfer-Encoding') || res.hasHeader('Trailer');
    if (!isFramed && mayHaveContent(res.req.method, res.statusCode)) res.setHeader('Content-Length', length);
  }

  /** Takes the head that `res` has by now. */
  takeHead(): Head {
    const { res, before } = this;
    const declared = res.getHeader('content-length');
    const length = declared === undefined ? undefined : Number(declared);
    const coding = res.getHeader('transfer-encoding');
    return {
      status: res.statusCode,
      reason: res.statusMessage || undefined,
      headers: changesOf(res, before),
      removed: removedFrom(res, before),
      hasContent: mayHaveContent(res.req.method, res.statusCode),
      length,
      isReplayable:
        res.statusCode >= 200 &&
        (coding === undefined || String(coding).trim().toLowerCase() === 'chunked') &&
        (length === undefined || Number.isSafeInteger(length)),
    };
  }

  /** Keeps a part of the content, unless the response has none, or it becomes too long. */
  keep(bytes: Buffer): void {
    if (!this.head?.hasContent || bytes.length === 0) return;
    this.size += bytes.length;
    if (this.size > this.maxBytes) this.chunks = undefined;
    this.chunks?.push(bytes);
  }

  /** Keeps the trailers, of which node sends those of the last call only. */
  keepTrailers(trailers: TrailersArgument): void {
    const pairs = (Array.isArray(trailers) ? trailers : Object.entries(trailers)) as [string, unknown][];
    // A replay has a date of its own.
    const kept = pairs.filter(([name]) => !PER_EXCHANGE.has(name.toLowerCase()));
    this.trailers = kept.map(([name, value]) => [name, textOf(value)]);
  }

  /** True if a client that has all bytes so far considers the response complete. */
  isComplete(): boolean {
    const { head, size } = this;
    return head !== undefined && (!head.hasContent || (head.length !== undefined && size >= head.length));
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

function headersBefore(res: ServerResponse): HeadersBefore {
  const before = new Map<string, HeaderLine[1]>();
  for (const name of res.getHeaderNames()) before.set(name, textOf(res.getHeader(name)));
  return before;
}

/** Returns what a replay has to set: headers of the body always, of the others those that differ from before. */
function changesOf(res: ServerResponse, before: HeadersBefore): HeaderLine[] {
  const headers: HeaderLine[] = [];
  for (const name of namesIn(res)) {
    const lowerCase = name.toLowerCase();
    if (PER_EXCHANGE.has(lowerCase)) continue;
    const value = textOf(res.getHeader(name) ?? '');
    const earlier = OF_THE_BODY.has(lowerCase) ? undefined : before.get(lowerCase);
    if (earlier !== undefined && lowerCase === 'set-cookie') {
      const added = [value].flat().filter(cookie => ![earlier].flat().includes(cookie));
      if (added.length > 0) headers.push([name, added]);
    } else if (earlier === undefined || String(value) !== String(earlier)) headers.push([name, value]);
  }
  return headers;
}

function removedFrom(res: ServerResponse, before: HeadersBefore): readonly string[] | undefined {
  const removed: string[] = [];
  for (const name of before.keys())
    if (!res.hasHeader(name) && !PER_EXCHANGE.has(name) && !OF_THE_BODY.has(name)) removed.push(name);
  return removed.length > 0 ? removed : undefined;
}
