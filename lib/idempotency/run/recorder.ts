import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { types } from 'node:util';
import { reset, withHeldEnd, withoutClient } from '../../http/exchange-end';
import type { RecordedResponse } from '../responses/recorded-response';
import { connectionOf, Departure, type Connection, type DepartureTimes } from './departure';
import { bytesOf, setHead, type HeadersArgument } from './head';
import { Recording } from './recording';

type Chunk = string | Uint8Array;
type Callback = (error?: Error | null) => void;
type Encoding = BufferEncoding | Callback;

export interface Limits extends DepartureTimes {
  /** Bytes of the body that are kept. */
  readonly maxResponseBytes: number;
}

/** How a handler left its response. */
export type Ending =
  /** It has run. `response` is undefined if there is none that could be replayed. */
  | { readonly kind: 'ended'; readonly response: RecordedResponse | undefined }
  /** It broke its response off. */
  | { readonly kind: 'cut-off' };

/** Where a response keeps its recorder. */
const RECORDER = Symbol('recorder');
type Recorded = ServerResponse & { [RECORDER]: Recorder };

/** The methods of every response that is recorded: to make six functions for each would cost a microsecond. */
const methods = {
  writeHead(this: Recorded, status: number, reason?: string | HeadersArgument, headers?: HeadersArgument) {
    return this[RECORDER].writeHead(status, reason, headers);
  },
  write(this: Recorded, chunk: Chunk, encoding?: Encoding, callback?: Callback) {
    return this[RECORDER].write(chunk, encoding, callback);
  },
  end(this: Recorded, chunk?: Chunk | Callback | null, encoding?: Encoding, callback?: Callback) {
    return this[RECORDER].end(chunk, encoding, callback);
  },
  flushHeaders(this: Recorded) {
    this[RECORDER].flushHeaders();
  },
  addTrailers(this: Recorded, trailers: OutgoingHttpHeaders | readonly [string, string][]) {
    this[RECORDER].addTrailers(trailers);
  },
  destroy(this: Recorded, error?: Error) {
    return this[RECORDER].destroy(error);
  },
};

/**
 * Records a response as it leaves, and holds back its end.
 *
 * What does not complete the response goes out at once. The head is real: it is written in `end` at the latest, so
 * that `headersSent` is true while the last bytes wait for `finish()`. The methods that `res` had before (node's, or
 * those of an earlier middleware) are called below ours. A handler whose client has left goes on: the response is
 * detached from the connection, and hears of the departure when it is stored.
 */
export class Recorder {
  readonly ending: Promise<Ending>;
  /** True once the handler has ended its response. */
  hasEnded = false;
  /** True once the end was given to the earlier methods. */
  private isSent = false;
  readonly recording: Recording;
  private readonly earlier;
  private readonly connection: Connection | undefined;
  private settle: (ending: Ending) => void = () => undefined;
  /** The length of the content, if `end` writes the head and so declares it. */
  private wholeLength: number | undefined;
  /** The last bytes, which would complete the response. */
  private held: Chunk | undefined;
  private heldEncoding: BufferEncoding = 'utf8';
  /** Undefined while the client is there. */
  private departure: Departure | undefined;
  /** The connection that the response was detached from when its client left. */
  private leftSocket: Socket | undefined;
  private hidesDeparture = true;
  private onLeft: (() => void) | undefined;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    private readonly limits: Limits,
  ) {
    this.ending = new Promise(resolve => {
      this.settle = resolve;
    });
    this.recording = new Recording(res, limits.maxResponseBytes);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- they are called with `res` as `this`.
    const { writeHead, write, end, flushHeaders, addTrailers, destroy } = res;
    this.earlier = { writeHead, write, end, flushHeaders, addTrailers, destroy };
    (res as Recorded)[RECORDER] = this;
    Object.assign(res, methods);
    // The responses of adapters have no connection of node's: they emit `close`, or never notice.
    if (req.socket instanceof Socket) this.connection = connectionOf(req.socket);
    else res.once('close', this.connectionClosed.bind(this));
    this.connection?.responses.add(this);
  }

  /** True while the end is held back: by us, or behind us by an earlier middleware (a session that saves first). */
  get isHeld(): boolean {
    return this.hasEnded && !this.res.writableEnded;
  }

  /** The status that was sent, or will be. */
  get status(): number {
    return this.recording.head?.status ?? this.res.statusCode;
  }

  /** True if the client has left before it had sent the whole request. */
  get isUploadBrokenOff(): boolean {
    return this.departure !== undefined && !this.req.complete;
  }

  /** Lets the handler learn at once when its client leaves, or has left: no response is to be stored. */
  stopHidingDeparture(): void {
    this.hidesDeparture = false;
    this.showDeparture();
  }

  /** Lets the end go out. @param isStored whether a retry gets this response: then it counts as sent to all. */
  finish(isStored: boolean): void {
    const { res, connection, leftSocket, held } = this;
    if (connection && res.socket?.writable === false && !res.destroyed && this.hidesDeparture) {
      // The client has said that it leaves; the connection closes in a moment.
      this.onLeft = () => {
        this.finish(isStored);
      };
      return;
    }
    this.stop();
    if (leftSocket) {
      res.assignSocket(leftSocket);
      res.once('finish', () => (this.leftSocket = undefined));
      process.nextTick(() => {
        this.tellWithoutClient(isStored);
      });
    }
    // Loggers report what is sent, whatever the handler has set since.
    res.statusCode = this.status;
    // Also without a client: earlier middlewares (a session) do their work at the end.
    this.earlier.end.call(res, held, this.heldEncoding);
    if (res.writableEnded) this.passedOn();
    else res.once('prefinish', this.passedOn.bind(this));
  }

  /** Closes the connection, so that the client does not take a part of the response for the whole. */
  abort(): void {
    const { socket } = this.res;
    this.stop();
    this.connection?.responses.delete(this);
    this.showDeparture();
    if (socket instanceof Socket) reset(socket);
    this.earlier.destroy.call(this.res);
  }

  /** Ends the recording of a response that must not be sent: another run's counts. */
  breakOff(): void {
    this.settle({ kind: 'cut-off' });
  }

  /** Called when the client leaves, or the server or the handler closes the connection. */
  connectionClosed(): void {
    const { req, res, limits } = this;
    if (this.isSent) return;
    if (this.connection && this.hidesDeparture && res.socket === req.socket && !res.destroyed) {
      this.leftSocket = req.socket;
      res.detachSocket(req.socket);
      // Node aborts a request whose connection closes: parsers would take a whole body for one that broke off.
      if (req.complete) req.destroy = () => req;
    }
    if (this.hidesDeparture) withoutClient.add(res);
    this.departure = new Departure(limits, this.recording.head !== undefined, () => {
      this.settle({ kind: 'ended', response: undefined });
    });
    if (this.hasEnded) this.departure.stop();
    res.emit('drain');
    this.onLeft?.();
  }

  writeHead(status: number, reason?: string | HeadersArgument, headers?: HeadersArgument): ServerResponse {
    const { res, earlier, recording } = this;
    // Node throws its own errors.
    if (recording.head || this.isSent || !(status >= 100 && status <= 999))
      return Reflect.apply(earlier.writeHead, res, [status, reason, headers]) as ServerResponse;
    setHead(res, status, reason, headers);
    const head = recording.takeHead(this.wholeLength);
    earlier.writeHead.call(res, res.statusCode);
    recording.head = head;
    this.departure?.handlerWrote();
    return res;
  }

  write(chunk: Chunk, encoding?: Encoding, callback?: Callback): boolean {
    const { res, earlier, recording } = this;
    const done = typeof encoding === 'function' ? encoding : callback;
    if (this.isWaiting) return afterEnd(done, false);
    if (this.isSent || !isChunk(chunk)) return earlier.write.call(res, chunk, encoding as BufferEncoding, callback);
    this.beginHead();
    const wasComplete = recording.isComplete();
    const bytes = bytesOf(chunk, encoding);
    recording.keep(bytes);
    this.departure?.handlerWrote();
    if (wasComplete || this.goesOnAlone) return this.accept(done);
    if (!recording.isComplete()) return earlier.write.call(res, bytes, done as never);
    this.held = bytes;
    // The handler may wait for it before it ends.
    if (done) process.nextTick(done);
    return true;
  }

  end(chunk?: Chunk | Callback | null, encoding?: Encoding, callback?: Callback): ServerResponse {
    const { res, earlier, recording } = this;
    const last = typeof chunk === 'function' ? undefined : (chunk ?? undefined);
    const done = typeof chunk === 'function' ? chunk : typeof encoding === 'function' ? encoding : callback;
    if (this.isWaiting && last !== undefined) return afterEnd(done, res);
    if (this.isSent || (last !== undefined && !isChunk(last)))
      return earlier.end.call(res, chunk, encoding as BufferEncoding, callback);
    if (done) res.once('finish', done);
    if (this.isWaiting) return res;
    const bytes = last === undefined ? undefined : bytesOf(last, encoding);
    this.wholeLength = bytes?.length ?? 0;
    this.beginHead();
    if (bytes && !recording.isComplete()) {
      // Node sends text in one piece with the head.
      this.held = typeof last === 'string' ? last : bytes;
      if (typeof encoding === 'string') this.heldEncoding = encoding;
    }
    if (bytes) recording.keep(bytes);
    this.hasEnded = true;
    withHeldEnd.add(res);
    this.departure?.stop();
    this.settle(recording.isShort ? this.brokenOff : { kind: 'ended', response: recording.response });
    return res;
  }

  /** Sends the head, unless it is the whole response (HEAD, 204): then it waits like any other last byte. */
  flushHeaders(): void {
    if (this.isWaiting) return;
    this.beginHead();
    if (!this.recording.isComplete() && !this.goesOnAlone) this.earlier.flushHeaders.call(this.res);
  }

  addTrailers(trailers: OutgoingHttpHeaders | readonly [string, string][]): void {
    if (this.isWaiting) return;
    this.earlier.addTrailers.call(this.res, trailers);
    this.recording.keepTrailers(trailers);
  }

  destroy(error?: Error): ServerResponse {
    const { res, connection } = this;
    if (this.isWaiting && connection && !this.departure) {
      connection.closesAfterEnd = true;
      return res;
    }
    // An earlier middleware may destroy it instead of passing the end on.
    if (this.isSent) connection?.responses.delete(this);
    // (From Node 24 on, node destroys a pipelined response whose connection has closed: its handler goes on, too.)
    const isNodes = this.goesOnAlone && !this.leftSocket;
    if (!isNodes) this.settle(this.brokenOff);
    // It is told when its run is recorded.
    return this.leftSocket ? res : this.earlier.destroy.call(res, error);
  }

  /** Ends the recording: what is written from now on goes to the earlier methods. */
  stop(): void {
    this.isSent = true;
    this.departure?.stop();
  }

  /** Writes the head through the methods of the middlewares after us: the handler has not written it. */
  private beginHead(): void {
    if (!this.recording.head) this.res.writeHead(this.res.statusCode);
  }

  /** The ending of a response that is broken off. A later middleware (compression) may hold one that has ended. */
  private get brokenOff(): Ending {
    const hasLeft = this.departure !== undefined && (this.recording.head !== undefined || this.req.complete);
    const mayHaveEnded = hasLeft || this.res.end !== methods.end;
    return mayHaveEnded ? { kind: 'ended', response: undefined } : { kind: 'cut-off' };
  }

  /** True from the handler's end to `finish()`. */
  private get isWaiting(): boolean {
    return this.hasEnded && !this.isSent;
  }

  /** True if the client has left, and the handler does not learn of it. */
  private get goesOnAlone(): boolean {
    return this.departure !== undefined && this.hidesDeparture;
  }

  /**
   * Accepts what is not to be sent in the next turn: a stream that always has more would never let other code run.
   * @returns false, as `write` does; true if a middleware with an `on` of its own (compression) keeps who waits for
   * `drain`.
   */
  private accept(done: Callback | undefined): boolean {
    setImmediate(() => {
      done?.();
      this.res.emit('drain');
    });
    return Object.hasOwn(this.res, 'on');
  }

  /** Tells a handler whose client has left that its run is recorded. */
  private tellWithoutClient(isStored: boolean): void {
    const { res } = this;
    if (!this.leftSocket) return;
    // Documented as deprecated; `writableFinished` is read from it.
    if (isStored) Object.assign(res, { finished: true });
    else this.earlier.destroy.call(res);
    res.emit(isStored ? 'finish' : 'close');
  }

  private showDeparture(): void {
    const { res, leftSocket } = this;
    if (!leftSocket) return;
    this.leftSocket = undefined;
    withoutClient.delete(res);
    res.assignSocket(leftSocket);
    this.earlier.destroy.call(res);
    res.emit('close');
  }

  /** Lets the connection close: node has the end. */
  private passedOn(): void {
    const { req, res, connection } = this;
    connection?.responses.delete(this);
    if (connection?.closesAfterEnd) res.once('finish', () => req.socket.destroySoon());
  }
}

/** Returns true for what node accepts, which may be of another realm (Next.js runs routes in one, Jest runs tests). */
function isChunk(chunk: unknown): chunk is Chunk {
  return typeof chunk === 'string' || types.isUint8Array(chunk);
}

/** Reports a write after the end to its callback. Without us, the response would have been sent by then. */
function afterEnd<T>(callback: Callback | undefined, result: T): T {
  const error = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
  if (callback) process.nextTick(callback, error);
  return result;
}
