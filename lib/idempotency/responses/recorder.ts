import { AsyncResource } from 'node:async_hooks';
import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { reset } from '../../http/closing';
import { watchConnection } from '../../http/exchange-end';
import { FakedProgress } from './faked-progress';
import { BodyCopy } from './body-copy';
import { HeadSnapshot } from './head-snapshot';
import { Outgoing } from './outgoing';
import { INVALID_IN_REASON, isPerExchange, mayHaveContent, type HeaderLine } from './recorded-response';
import type { Ending, Limits, Recording } from './recording';
import { ResponseHead } from './response-head';
import {
  copyOfBytes,
  isChunk,
  declareNotedLength,
  setHeaders,
  trailerLines,
  type Callback,
  type Chunk,
  type HeadersArgument,
} from './response-parts';
import { RunEnd } from './run-end';

/** Node's own methods, called for invalid arguments: they throw node's own errors, and no middleware sees the call. */
const node = ServerResponse.prototype as unknown as Record<
  'writeHead' | 'write' | 'end',
  (this: ServerResponse, ...args: unknown[]) => never
>;

const NOTHING = Buffer.alloc(0);

/**
 * Observes a response at the level of `ServerResponse` and holds back its end.
 *
 * Bytes that do not complete the response are sent to the client at once; the byte, or the head, that would complete it
 * waits for `finish()`. The earlier methods of `res` (node's, or those of an earlier middleware) are called below ours:
 * the handler's own calls are recorded, and a replay goes through the earlier methods again.
 */
export function record(req: IncomingMessage, res: ServerResponse, limits: Limits): Recording {
  return new Recorder(req, res, limits);
}

/** The end of a response, as the handler wrote it. */
interface Ended {
  readonly head: ResponseHead;
  readonly callback: Callback | undefined;
  /** The handler's asynchronous context: listeners of `finish` and `close` find their AsyncLocalStorage in it. */
  readonly context: AsyncResource;
}

class Recorder implements Recording {
  private readonly snapshot: HeadSnapshot;
  private readonly faked: FakedProgress;
  private readonly outgoing: Outgoing;
  private readonly runEnd: RunEnd;
  private readonly ownWriteHead: ServerResponse['writeHead'];
  private head: ResponseHead | undefined;
  /** The `write` or `end` that made node write the implicit header. */
  private headWrittenBy: 'write' | 'end' | undefined;
  private trailers: readonly HeaderLine[] = [];
  private body: BodyCopy;
  private readonly method: string | undefined;
  /** The content that waits for `finish()`. */
  private held: Buffer[] = [];
  private ended: Ended | undefined;

  constructor(
    req: IncomingMessage,
    private readonly res: ServerResponse,
    private readonly limits: Limits,
  ) {
    this.method = req.method;
    this.body = new BodyCopy(limits.maxResponseBytes);
    this.snapshot = new HeadSnapshot(res);
    watchConnection(req, res);
    this.faked = new FakedProgress(res, req.socket);
    this.outgoing = new Outgoing(res, this.faked);
    res.writeHead = this.ownWriteHead = this.writeHead.bind(this);
    res.write = this.write.bind(this) as typeof res.write;
    res.end = this.end.bind(this) as typeof res.end;
    res.flushHeaders = this.flushHeaders.bind(this);
    res.addTrailers = this.addTrailers.bind(this);
    this.runEnd = new RunEnd(req, res, limits, this, this.faked, this.outgoing);
  }

  get ending(): Promise<Ending> {
    return this.runEnd.ending;
  }

  get canBeReplaced(): boolean {
    return !this.outgoing.hasBegun;
  }

  get hasResponded(): boolean {
    return this.outgoing.hasBegun || this.runEnd.isOver;
  }

  get isUploadBrokenOff(): boolean {
    return this.runEnd.isUploadBrokenOff;
  }

  get hasHead(): boolean {
    return this.head !== undefined;
  }

  get hasEnded(): boolean {
    return this.ended !== undefined;
  }

  clientLeft(): void {
    this.held = [];
  }

  stopHidingDeparture(): void {
    this.runEnd.stopHidingDeparture();
  }

  breakOff(): void {
    if (!this.ended && this.runEnd.closedByHandler()) this.closeConnection();
  }

  finish(): void {
    this.faked.restoreEnd();
    if (this.ended) {
      if (this.runEnd.isClientGone) this.faked.pretendOpen();
      // Also if the client has disconnected: earlier middlewares (a session) do their work at the end.
      const rest = this.held.length === 1 && this.held[0] ? this.held[0] : Buffer.concat(this.held);
      const { head, callback, context } = this.ended;
      context.runInAsyncScope(() => {
        this.outgoing.end(head, rest, callback);
      });
      context.emitDestroy();
    }
    this.runEnd.endRecording();
  }

  discard(): void {
    this.faked.restoreEnd();
    this.faked.restoreHead();
    this.outgoing.putBack();
    this.snapshot.putBack();
    this.runEnd.endRecording();
  }

  abort(): void {
    this.faked.restoreEnd();
    this.closeConnection();
    this.runEnd.endRecording();
  }

  private closeConnection(): void {
    // If the end of the connection is the end of the content, a clean end would make half a response look whole.
    const { chunkedEncoding, socket } = this.res;
    if (this.outgoing.hasBegun && !chunkedEncoding && !this.res.hasHeader('content-length') && socket) reset(socket);
    this.outgoing.destroy();
  }

  private writeHead(status: number, second?: string | HeadersArgument, third?: HeadersArgument): ServerResponse {
    const { res } = this;
    const reason = typeof second === 'string' ? second : res.statusMessage;
    if (this.head || !(status >= 100 && status <= 999) || INVALID_IN_REASON.test(reason))
      return node.writeHead.call(res, status, second);
    const headers = typeof second === 'string' ? third : (second ?? third);
    // In node's order: if a header is refused, the status is set already.
    res.statusCode = Math.trunc(status);
    res.statusMessage = reason;
    if (headers) setHeaders(res, headers);
    if (this.headWrittenBy === undefined && mayHaveContent(this.method, res.statusCode)) declareNotedLength(res);
    this.head = new ResponseHead(this.method, res, this.snapshot, this.headWrittenBy);
    this.runEnd.wrote();
    this.faked.pretendHeadSent();
    return res;
  }

  private write(chunk: Chunk, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (this.ended && this.outgoing.isEnding && !this.res.writableEnded)
      return this.outgoing.add(chunk, encoding, callback);
    if (this.ended) return afterEnd(done, false);
    if (!isChunk(chunk)) return node.write.call(this.res, chunk, encoding, callback);
    const head = this.writtenHead('write');
    const bytes = this.keep(copyOfBytes(chunk, encoding), head);
    this.runEnd.wrote();
    if (this.goesOut(head)) return this.sent(() => this.outgoing.write(head, bytes, done));
    if (!this.runEnd.isClientGone) this.held.push(bytes);
    // Held bytes count as written: the handler may wait for the callback before it ends.
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
    if (this.ended && this.outgoing.isEnding && !this.res.writableEnded)
      return this.outgoing.endAgain(chunk, encoding, callback);
    if (this.ended && last !== undefined) return afterEnd(done, this.res);
    if (this.ended || (last !== undefined && !isChunk(last))) return node.end.call(this.res, chunk, encoding, callback);
    const bytes = last === undefined ? NOTHING : copyOfBytes(last, encoding);
    const head = this.writtenHead('end');
    const kept = this.keep(bytes, head);
    if (!this.runEnd.isClientGone) this.held.push(kept);
    this.ended = { head, callback: done, context: new AsyncResource('bindonce') };
    this.faked.pretendEnded();
    if (head.isShortWith(this.body.bytes)) this.runEnd.respondedInPart();
    else this.runEnd.responded(head.withBody(this.body.content, this.trailers));
    return this.res;
  }

  /**
   * Sends the head, unless it is the whole response (HEAD, 204, an empty body): then it waits like any other last byte.
   */
  private flushHeaders(): void {
    const head = this.writtenHead('write');
    if (this.ended || !this.goesOut(head)) return;
    this.sent(() => {
      this.outgoing.flushHeaders(head);
    });
  }

  private addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    if (this.ended) return;
    const lines = trailerLines(trailers);
    this.outgoing.addTrailers(lines);
    // Node keeps the lines of the last call only. A replay has a date of its own.
    this.trailers = lines.filter(([name]) => !isPerExchange(name));
  }

  /** Returns the head; writes it, as node does, through all middlewares, if the handler has not. */
  private writtenHead(by: 'write' | 'end'): ResponseHead {
    if (!this.head) {
      this.headWrittenBy = by;
      this.res.writeHead(this.res.statusCode);
    }
    return (this.head ??= new ResponseHead(this.method, this.res, this.snapshot, by));
  }

  /**
   * Sends a part of the response. If that fails before the head has left (node refuses it, or an earlier middleware
   * throws), nothing has been said yet, and what is written next is the response.
   */
  private sent<T>(send: () => T): T {
    try {
      return send();
    } catch (error) {
      if (!this.res.headersSent) this.startAgain();
      throw error;
    }
  }

  private startAgain(): void {
    this.head = undefined;
    this.headWrittenBy = undefined;
    this.trailers = [];
    this.body = new BodyCopy(this.limits.maxResponseBytes);
    this.outgoing.takeBackHead();
    this.res.writeHead = this.ownWriteHead;
  }

  private keep(bytes: Buffer, { hasContent }: ResponseHead): Buffer {
    if (hasContent) this.body.add(bytes);
    return hasContent ? bytes : NOTHING;
  }

  /** Returns true if the bytes may go to the client: it is connected, and they do not complete the response. */
  private goesOut(head: ResponseHead): boolean {
    return !this.runEnd.isClientGone && !head.isCompleteWith(this.body.bytes);
  }
}

/**
 * Reports a write after the end to its callback only. Node emits an `error` until the response is sent, which is later
 * here.
 */
function afterEnd<T>(callback: Callback | undefined, result: T): T {
  if (callback)
    process.nextTick(callback, Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }));
  return result;
}
