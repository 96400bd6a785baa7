import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { watchConnection } from '../../http/exchange-end';
import { Appearance } from './appearance';
import { headersOf, type HeaderLine, type RecordedResponse } from './recorded-response';
import type { Ending, Recording } from './recording';
import { ResponseHead } from './response-head';
import { bytesOf, isChunk, setHeaders, type Callback, type Chunk, type HeadersArgument } from './response-parts';

/** RFC 9112, section 4. */
const INVALID_IN_REASON = /[^\t\x20-\x7e\x80-\xff]/;

/** Node's own methods: they say in node's own words what is wrong, without waking the middlewares in between. */
const node = ServerResponse.prototype as unknown as Record<'writeHead' | 'write' | 'end', (this: ServerResponse, ...args: unknown[]) => never>;

/**
 * Observes a response at the level of `ServerResponse` and holds back its end.
 *
 * Bytes that cannot complete the response go to the client at once; the byte, or the head, that would complete it waits for
 * `release()`. The methods of `res` that were there before (node's, or those of a middleware before us) stay below: what is
 * recorded is what the handler sent into them, and a replay goes through them again.
 */
export function record(req: IncomingMessage, res: ServerResponse, maxBytes: number): Recording {
  return new Recorder(req, res, maxBytes);
}

class Recorder implements Recording {
  readonly ending: Promise<Ending>;
  clientGone = false;
  private lastProgress = performance.now();
  private settle: (ending: Ending) => void = () => undefined;
  private readonly appearance: Appearance;
  private readonly below;
  private head: ResponseHead | undefined;
  /** Set where node would write the head by itself, for a `write` or an `end` that comes before it. */
  private impliedBy: 'write' | 'end' | undefined;
  private trailers: HeaderLine[] = [];
  /** What is recorded; undefined once it was too much. */
  private body: Buffer[] | undefined = [];
  private bytes = 0;
  /** What waits for `release()`. */
  private held: Buffer[] = [];
  private ended: { readonly callback: Callback | undefined } | undefined;
  private begun = false;
  private handedOver = false;

  constructor(private readonly req: IncomingMessage, private readonly res: ServerResponse, private readonly maxBytes: number) {
    this.ending = new Promise(resolve => { this.settle = resolve; });
    this.appearance = new Appearance(res);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are called with `res` as `this`.
    const { writeHead, write, end, flushHeaders, addTrailers, destroy, emit } = res;
    this.below = { writeHead, write, end, flushHeaders, addTrailers, destroy, emit };
    res.writeHead = this.writeHead.bind(this);
    res.write = this.write.bind(this) as typeof write;
    res.end = this.end.bind(this) as typeof end;
    res.flushHeaders = this.flushHeaders.bind(this);
    res.addTrailers = this.addTrailers.bind(this);
    res.destroy = this.destroy.bind(this);
    res.emit = this.emit.bind(this) as typeof emit;
    this.appearance.keepRequest(req);
    watchConnection(req, res);
  }

  get canBeReplaced(): boolean {
    return !this.begun;
  }

  get hasBegun(): boolean {
    return this.head !== undefined;
  }

  isStalledFor(ms: number): boolean {
    return performance.now() - this.lastProgress > ms;
  }

  abandon(): void {
    this.settle({ kind: 'complete', response: undefined });
  }

  release(): void {
    this.appearance.hasNotEnded();
    if (this.ended) {
      // Also where nobody is there to read it: the middlewares below (a session) do their work at the end.
      const rest = Buffer.concat(this.held);
      const isWritten = this.impliedBy === 'write' && !this.begun;
      this.begin();
      if (isWritten) this.below.write.call(this.res, rest, 'utf8');
      this.below.end.call(this.res, isWritten || rest.length === 0 ? undefined : rest, 'utf8', this.ended.callback);
    }
    this.handOver();
  }

  withdraw(): void {
    this.appearance.hasNotEnded();
    this.appearance.hasNotBegun();
    Object.assign(this.res, this.below);
    for (const [name] of headersOf(this.res)) this.res.removeHeader(name);
    this.res.statusMessage = '';
    this.handOver();
  }

  cut(): void {
    this.appearance.hasNotEnded();
    // Where the end of the connection is the end of the content, a clean end would make half a response a whole one.
    if (!this.res.useChunkedEncodingByDefault) this.res.socket?.resetAndDestroy();
    this.below.destroy.call(this.res);
    this.handOver();
  }

  private writeHead(status: number, second?: string | HeadersArgument, third?: HeadersArgument): ServerResponse {
    const { res } = this;
    const reason = typeof second === 'string' ? second : res.statusMessage;
    if (this.head || !(status >= 100 && status <= 999) || INVALID_IN_REASON.test(reason)) return node.writeHead.call(res, status, second);
    const headers = typeof second === 'string' ? third : second ?? third;
    // In node's order: where a header is refused, the status is set already.
    res.statusCode = Math.trunc(status);
    res.statusMessage = reason;
    if (headers) setHeaders(res, headers);
    this.head = new ResponseHead(this.req.method, res, this.impliedBy);
    this.appearance.looksBegun();
    return res;
  }

  private write(chunk: Chunk, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (this.ended) return afterEnd(done, false);
    if (!isChunk(chunk)) return node.write.call(this.res, chunk, encoding, callback);
    this.lastProgress = performance.now();
    const bytes = this.keep(bytesOf(chunk, encoding), this.writtenHead('write'));
    if (this.goesOut()) {
      this.begin();
      return this.below.write.call(this.res, bytes, 'utf8', done);
    }
    if (!this.clientGone) this.held.push(bytes);
    // What is held counts as written: the handler may wait for that before it ends.
    if (done) process.nextTick(done);
    return true;
  }

  private end(chunk?: Chunk | Callback | null, encoding?: BufferEncoding | Callback, callback?: Callback): ServerResponse {
    const last = typeof chunk === 'function' ? undefined : chunk ?? undefined;
    const done = [chunk, encoding, callback].find(argument => typeof argument === 'function');
    if (this.ended && last !== undefined) return afterEnd(done, this.res);
    if (this.ended || (last !== undefined && !isChunk(last))) return node.end.call(this.res, chunk, encoding, callback);
    const bytes = last === undefined ? Buffer.alloc(0) : bytesOf(last, encoding);
    const head = this.writtenHead('end');
    const kept = this.keep(bytes, head);
    if (!this.clientGone) this.held.push(kept);
    this.ended = { callback: done };
    this.appearance.looksEnded();
    this.settle(head.isShortWith(this.bytes) ? { kind: 'cut-off' } : { kind: 'complete', response: this.recorded(head) });
    return this.res;
  }

  /** A head that is the whole response (HEAD, 204, an empty body) waits like any other last byte. */
  private flushHeaders(): void {
    this.writtenHead('write');
    if (this.ended || !this.goesOut()) return;
    this.begin();
    this.below.flushHeaders.call(this.res);
  }

  private addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    if (this.ended) return;
    const lines = (Array.isArray(trailers) ? trailers : Object.entries(trailers)) as [string, string][];
    this.below.addTrailers.call(this.res, lines);
    // Node keeps the lines of the last call only.
    this.trailers = lines;
  }

  /** Called by the handler, or by a pipeline whose source has failed: nothing more will come. */
  private destroy(error?: Error): ServerResponse {
    if (this.ended && !this.handedOver) {
      this.appearance.destroyLater();
      return this.res;
    }
    // From node 24 on, node destroys a pipelined response whose connection is gone: it tells of the client, not of the handler.
    if (!this.clientGone && !this.res.socket && this.req.socket.destroyed) {
      this.res.emit('close');
      return this.res;
    }
    this.settle({ kind: 'cut-off' });
    return this.below.destroy.call(this.res, error);
  }

  /** The client's going away is not the end of the handler's work: `close` is told when the response is handed over. */
  private emit(event: string, ...args: unknown[]): boolean {
    if (event !== 'close' || this.handedOver) return this.below.emit.call(this.res, event, ...args);
    // Once the handler has begun to answer, a connection that is closed from this side is its (or Express's) way to give up.
    if (!this.ended && this.head && wasClosedHere(this.req)) this.settle({ kind: 'cut-off' });
    this.clientGone = true;
    this.lastProgress = performance.now();
    this.held = [];
    this.appearance.looksOpen();
    // Whoever waits for the dead socket to drain would wait for ever.
    this.below.emit.call(this.res, 'drain');
    return true;
  }

  /** From here on `res` is left to itself; a `close` that was held back is told. */
  private handOver(): void {
    this.handedOver = true;
    if (!this.clientGone) return;
    this.appearance.looksGone();
    this.below.emit.call(this.res, 'close');
  }

  /** Writes the head, as node does, through whatever middlewares are above, where the handler has not. */
  private writtenHead(by: 'write' | 'end'): ResponseHead {
    if (!this.head) {
      this.impliedBy = by;
      this.res.writeHead(this.res.statusCode);
    }
    return this.head ??= new ResponseHead(this.req.method, this.res, by);
  }

  private keep(bytes: Buffer, { hasContent }: ResponseHead): Buffer {
    if (!hasContent) return Buffer.alloc(0);
    this.bytes += bytes.length;
    if (this.bytes > this.maxBytes) this.body = undefined;
    this.body?.push(bytes);
    return bytes;
  }

  private recorded({ status, reason, headers, impliedBy }: ResponseHead): RecordedResponse | undefined {
    return this.body && { status, ...(reason !== undefined && { reason }), headers, ...(impliedBy && { impliedBy }), body: Buffer.concat(this.body), trailers: this.trailers };
  }

  /**
   * Writes the held head, as it was when the handler wrote it. One that node would have written by itself is left to the first
   * `write` or to `end` below: middlewares there may add to it until then, or change the content and its length.
   */
  private begin(): void {
    if (this.begun || !this.head) return;
    this.begun = true;
    this.appearance.hasNotBegun();
    const { status, reason = '' } = this.head;
    this.res.statusCode = status;
    this.res.statusMessage = reason;
    if (this.impliedBy) this.res.writeHead = this.below.writeHead;
    else this.below.writeHead.call(this.res, status);
  }

  /** True when what was written so far may go to the client: somebody is there, and it is not the whole response. */
  private goesOut(): boolean {
    return !this.clientGone && this.head?.isCompleteWith(this.bytes) === false;
  }
}

/** Node would emit an `error` that ends the process: it does so until the response has left, and ours leaves later. */
function afterEnd<T>(callback: Callback | undefined, result: T): T {
  if (callback) process.nextTick(callback, Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }));
  return result;
}

/** True when this side destroyed the connection: the client neither ended nor reset it. */
function wasClosedHere({ socket }: IncomingMessage): boolean {
  return !socket.readableEnded && !(socket.errored && 'syscall' in socket.errored);
}
