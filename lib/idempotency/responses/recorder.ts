import { ServerResponse, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { steps } from '../../basics/steps';
import { reset } from '../../http/closing';
import { watchConnection } from '../../http/exchange-end';
import { DiscardedWrites } from './discarded-writes';
import { FakedProgress } from './faked-progress';
import { HeadSnapshot } from './head-snapshot';
import { HeldEnd } from './held-end';
import { Outgoing } from './outgoing';
import { INVALID_IN_REASON } from './recorded-response';
import type { Ending, Limits, Recording } from './recording';
import { copyOfBytes, isChunk, trailerLines, type Callback, type Chunk, type HeadersArgument } from './response-parts';
import { RunEnd } from './run-end';
import { WrittenResponse } from './written-response';

/** Node's own methods, called for invalid arguments: they throw node's own errors, and no middleware sees the call. */
const node = ServerResponse.prototype as unknown as Record<
  'writeHead' | 'write' | 'end',
  (this: ServerResponse, ...args: unknown[]) => never
>;

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

class Recorder implements Recording {
  private readonly snapshot: HeadSnapshot;
  private readonly faked: FakedProgress;
  private readonly outgoing: Outgoing;
  private readonly runEnd: RunEnd;
  private readonly ownWriteHead: ServerResponse['writeHead'];
  private written: WrittenResponse;
  /** What waits for `finish()`. */
  private readonly held = new HeldEnd();
  private readonly discarded: DiscardedWrites;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    private readonly limits: Limits,
  ) {
    this.snapshot = new HeadSnapshot(res);
    this.written = this.nothingWritten();
    watchConnection(req, res);
    this.faked = new FakedProgress(res, req.socket, limits.leaseDuration);
    this.outgoing = new Outgoing(res, this.faked);
    this.discarded = new DiscardedWrites(res, this.outgoing);
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
    return this.written.head !== undefined;
  }

  get hasEnded(): boolean {
    return this.held.isWritten;
  }

  clientLeft(): void {
    this.held.dropContent();
  }

  stopHidingDeparture(): void {
    this.runEnd.stopHidingDeparture();
  }

  breakOff(): void {
    if (!this.hasEnded && this.runEnd.closedByHandler()) this.closeConnection();
  }

  finish(isStored: boolean): void {
    this.faked.restoreEnd();
    if (this.hasEnded && this.runEnd.isClientGone) this.faked.pretendOpen();
    // Also if the client has disconnected: earlier middlewares (a session) do their work at the end.
    this.held.sendBy(this.outgoing, () => {
      this.runEnd.endRecording(isStored);
    });
  }

  withhold(): void {
    // While the response looks ended, a connection does not close, also if its client has left.
    this.faked.restoreEnd();
    this.runEnd.stopHidingDeparture();
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
    if (this.hasHead || !(status >= 100 && status <= 999) || INVALID_IN_REASON.test(reason))
      return node.writeHead.call(res, status, second);
    this.written.writeHead(status, reason, typeof second === 'string' ? third : (second ?? third));
    this.runEnd.wrote();
    this.faked.pretendHeadSent();
    return res;
  }

  private write(chunk: Chunk, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
    const done = typeof encoding === 'function' ? encoding : callback;
    if (this.hasEnded && this.outgoing.isEnding && !this.res.writableEnded)
      return this.outgoing.writeAsGiven(chunk, encoding, callback);
    if (this.hasEnded) return afterEnd(done, false);
    if (!isChunk(chunk)) return node.write.call(this.res, chunk, encoding, callback);
    const head = this.written.headFor('write');
    const bytes = this.written.add(copyOfBytes(chunk, encoding));
    this.runEnd.wrote();
    if (this.goesOut) return this.sent(() => this.outgoing.write(head, bytes, done && this.runEnd.callbackFor(done)));
    if (this.runEnd.isClientGone || bytes.length === 0) return this.discarded.accept(done);
    this.held.hold(bytes);
    // Held bytes count as written: the handler may wait for the callback before it ends.
    if (done) steps.nextTick(done);
    return true;
  }

  private end(
    chunk?: Chunk | Callback | null,
    encoding?: BufferEncoding | Callback,
    callback?: Callback,
  ): ServerResponse {
    const last = typeof chunk === 'function' ? undefined : (chunk ?? undefined);
    const done = [chunk, encoding, callback].find(argument => typeof argument === 'function');
    if (this.hasEnded && this.outgoing.isEnding && !this.res.writableEnded)
      return this.outgoing.endAgain(chunk, encoding, callback);
    if (this.hasEnded && (last !== undefined || !this.res.writableEnded)) return afterEnd(done, this.res);
    if (this.hasEnded || (last !== undefined && !isChunk(last)))
      return node.end.call(this.res, chunk, encoding, callback);
    const bytes = last === undefined ? undefined : copyOfBytes(last, encoding);
    const head = this.written.headFor('end');
    const content = bytes && this.written.add(bytes);
    if (content && !this.runEnd.isClientGone) this.held.hold(content);
    this.held.write(head, done);
    this.faked.pretendEnded();
    if (this.written.isShort) this.runEnd.respondedInPart();
    else this.runEnd.responded(this.written.whole);
    return this.res;
  }

  /**
   * Sends the head, unless it is the whole response (HEAD, 204, an empty body): then it waits like any other last byte.
   */
  private flushHeaders(): void {
    const head = this.written.headFor('write');
    if (this.hasEnded || !this.goesOut) return;
    this.sent(() => {
      this.outgoing.flushHeaders(head);
    });
  }

  private addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    if (this.hasEnded) return;
    const lines = trailerLines(trailers);
    this.outgoing.addTrailers(lines);
    this.written.setTrailers(lines);
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
    this.written = this.nothingWritten();
    this.outgoing.takeBackHead();
    this.res.writeHead = this.ownWriteHead;
  }

  private nothingWritten(): WrittenResponse {
    return new WrittenResponse(this.req.method, this.res, this.snapshot, this.limits.maxResponseBytes);
  }

  /** True if what is written may go to the client: it is connected, and the response is not complete. */
  private get goesOut(): boolean {
    return !this.runEnd.isClientGone && !this.written.isComplete;
  }
}

/**
 * Reports a write after the end to its callback only. Node emits an `error` until the response is sent, which is later
 * here.
 */
function afterEnd<T>(callback: Callback | undefined, result: T): T {
  if (callback)
    steps.nextTick(callback, Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' }));
  return result;
}
