import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { watchConnection } from '../../http/exchange-end';
import { Appearance } from './appearance';
import { BodyCopy } from './body-copy';
import { Departure } from './departure';
import { HeadSnapshot } from './head-snapshot';
import { INVALID_IN_REASON, type HeaderLine } from './recorded-response';
import type { Ending, Limits, Recording } from './recording';
import { RequestFacade } from './request-facade';
import { ResponseHead } from './response-head';
import {
  bytesOf,
  isChunk,
  setHeaders,
  trailerLines,
  type Callback,
  type Chunk,
  type HeadersArgument,
} from './response-parts';

/** Node's own methods: they say in node's own words what is wrong, without waking the middlewares in between. */
const node = ServerResponse.prototype as unknown as Record<
  'writeHead' | 'write' | 'end',
  (this: ServerResponse, ...args: unknown[]) => never
>;

/**
 * Observes a response at the level of `ServerResponse` and holds back its end.
 *
 * Bytes that cannot complete the response go to the client at once; the byte, or the head, that would complete it waits for
 * `release()`. The methods of `res` that were there before (node's, or those of a middleware before us) stay below: what is
 * recorded is what the handler sent into them, and a replay goes through them again.
 */
export function record(req: IncomingMessage, res: ServerResponse, limits: Limits): Recording {
  return new Recorder(req, res, limits);
}

class Recorder implements Recording {
  readonly ending: Promise<Ending>;
  private settle: (ending: Ending) => void = () => undefined;
  private readonly snapshot: HeadSnapshot;
  private readonly request: RequestFacade;
  private readonly appearance: Appearance;
  private readonly departure: Departure;
  private readonly below;
  private head: ResponseHead | undefined;
  /** Set where node would write the head by itself, for a `write` or an `end` that comes before it. */
  private impliedBy: 'write' | 'end' | undefined;
  private trailers: readonly HeaderLine[] = [];
  private readonly body: BodyCopy;
  /** What waits for `release()`. */
  private held: Buffer[] = [];
  private ended: { readonly callback: Callback | undefined } | undefined;
  private begun = false;
  private handedOver = false;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    limits: Limits,
  ) {
    this.ending = new Promise(resolve => {
      this.settle = resolve;
    });
    this.body = new BodyCopy(limits.maxResponseBytes);
    this.snapshot = new HeadSnapshot(res);
    watchConnection(req, res);
    this.request = new RequestFacade(req, () => this.closedByHandler());
    this.appearance = new Appearance(res, this.request.socket);
    this.departure = new Departure(limits, {
      tell: () => {
        this.tellClose();
      },
      abandon: () => {
        this.abandon();
      },
    });
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
  }

  get canBeReplaced(): boolean {
    return !this.begun;
  }

  reportDeparture(): void {
    this.departure.report();
  }

  release(): void {
    this.appearance.hasNotEnded();
    if (this.ended) {
      if (this.departure.isGone) this.appearance.looksOpen();
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
    this.snapshot.putBack();
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
    if (this.head || !(status >= 100 && status <= 999) || INVALID_IN_REASON.test(reason))
      return node.writeHead.call(res, status, second);
    const headers = typeof second === 'string' ? third : (second ?? third);
    // In node's order: where a header is refused, the status is set already.
    res.statusCode = Math.trunc(status);
    res.statusMessage = reason;
    if (headers) setHeaders(res, headers);
    this.head = new ResponseHead(this.req.method, res, this.snapshot, this.impliedBy);
    this.departure.wrote();
    this.appearance.looksBegun();
    return res;
  }

  private write(chunk: Chunk, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (this.ended) return afterEnd(done, false);
    if (!isChunk(chunk)) return node.write.call(this.res, chunk, encoding, callback);
    const bytes = this.keep(bytesOf(chunk, encoding), this.writtenHead('write'));
    this.departure.wrote();
    if (this.goesOut()) {
      this.begin();
      return this.below.write.call(this.res, bytes, 'utf8', done);
    }
    if (!this.departure.isGone) this.held.push(bytes);
    // What is held counts as written: the handler may wait for that before it ends.
    if (done) process.nextTick(done);
    return true;
  }

  private end(
    chunk?: Chunk | Callback | null,
    encoding?: BufferEncoding | Callback,
    callback?: Callback,
  ): ServerResponse {
    const last = typeof chunk === 'function' ? undefined : (chunk ?? undefined);
    const done = [chunk, encoding, callback].find(argument => typeof argument === 'function');
    if (this.ended && last !== undefined) return afterEnd(done, this.res);
    if (this.ended || (last !== undefined && !isChunk(last))) return node.end.call(this.res, chunk, encoding, callback);
    const bytes = last === undefined ? Buffer.alloc(0) : bytesOf(last, encoding);
    const head = this.writtenHead('end');
    const kept = this.keep(bytes, head);
    if (!this.departure.isGone) this.held.push(kept);
    this.ended = { callback: done };
    this.appearance.looksEnded();
    this.finish(
      head.isShortWith(this.body.bytes)
        ? { kind: 'cut-off' }
        : { kind: 'complete', response: head.withBody(this.body.content, this.trailers) },
    );
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
    const lines = trailerLines(trailers);
    this.below.addTrailers.call(this.res, lines as [string, string][]);
    // Node keeps the lines of the last call only.
    this.trailers = lines;
  }

  /** Called by the handler, or by a pipeline whose source has failed: nothing more will come. */
  private destroy(error?: Error): ServerResponse {
    // From node 24 on, node destroys a pipelined response whose connection is gone: it tells of the client, not of the handler.
    if (!this.departure.isGone && !this.res.socket && this.request.socket.destroyed) this.res.emit('close');
    else if (this.closedByHandler()) this.below.destroy.call(this.res, error);
    return this.res;
  }

  /** @returns whether to close the connection now: after the end it waits until the response has left. */
  private closedByHandler(): boolean {
    if (this.ended && !this.handedOver) {
      this.appearance.destroyLater();
      return false;
    }
    // A handler that was told that its client has left gives up for that reason only: it has run.
    this.finish(this.departure.isTold ? { kind: 'complete', response: undefined } : { kind: 'cut-off' });
    this.departure.report();
    return true;
  }

  /** Nobody would ever learn that a handler has stopped without ending its response when its client is gone. */
  private abandon(): void {
    this.finish(this.head ? { kind: 'complete', response: undefined } : { kind: 'cut-off' });
  }

  private finish(ending: Ending): void {
    this.departure.stop();
    this.settle(ending);
  }

  /** The client's leaving is not the end of the handler's work: `close` is told, once, when there is nothing to hold on for. */
  private emit(event: string, ...args: unknown[]): boolean {
    const { departure, below, res } = this;
    if (event !== 'close') return below.emit.call(res, event, ...args);
    if (departure.isGone) return true;
    this.held = [];
    if (departure.isHeldBack) this.appearance.looksOpen();
    departure.goes();
    // Whoever waits for the dead socket to drain would wait for ever.
    if (departure.isHeldBack) below.emit.call(res, 'drain');
    return true;
  }

  private tellClose(): void {
    this.request.letGo();
    this.appearance.looksGone();
    this.below.emit.call(this.res, 'close');
  }

  /** From here on `res` is left to itself; a `close` that was held back is told. */
  private handOver(): void {
    this.handedOver = true;
    this.departure.stop();
    this.request.letGo();
    if (this.departure.isGone) this.appearance.looksGone();
    this.departure.report();
  }

  /** Writes the head, as node does, through whatever middlewares are above, where the handler has not. */
  private writtenHead(by: 'write' | 'end'): ResponseHead {
    if (!this.head) {
      this.impliedBy = by;
      this.res.writeHead(this.res.statusCode);
    }
    return (this.head ??= new ResponseHead(this.req.method, this.res, this.snapshot, by));
  }

  private keep(bytes: Buffer, { hasContent }: ResponseHead): Buffer {
    if (hasContent) this.body.add(bytes);
    return hasContent ? bytes : Buffer.alloc(0);
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
    return !this.departure.isGone && this.head?.isCompleteWith(this.body.bytes) === false;
  }
}

/** Node would emit an `error` that ends the process: it does so until the response has left, and ours leaves later. */
function afterEnd<T>(callback: Callback | undefined, result: T): T {
  if (callback)
    process.nextTick(callback, Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }));
  return result;
}
