import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { MAX_TIMER } from '../../options/check';
import { HELD_END, reset, withoutClient } from '../../http/exchange-end';
import type { ResolvedOptions } from '../options/resolved-options';
import { asSent, type RecordedResponse } from '../responses/recorded-response';
import { connectionOf, type Connection } from './connection';
import { bytesOf, isChunk, Recording, type Chunk, type HeadersArgument, type TrailersArgument } from './recording';

type Callback = () => void;
type Encoding = BufferEncoding | Callback;

/** What is kept of a run: its response, or only the record that the handler has run; of one that failed, nothing. */
export type Kept = RecordedResponse | 'record' | 'nothing';

/** Where a response keeps its recorder. */
const RECORDER = Symbol('recorder');
type Recorded = ServerResponse & { [RECORDER]: Recorder; [HELD_END]?: true };

/**
 * Records a response as it leaves, and holds back its end. What does not complete it goes out at once. The head is
 * real: it is written in `end` at the latest, so that `headersSent` is true while the last bytes wait for `finish()`.
 * The methods that `res` had before (node's, or those of an earlier middleware) are called below ours. A handler whose
 * client has left goes on: the response is detached from the connection, and hears of it when it is stored.
 */
export class Recorder {
  /** Resolves when the handler has ended its response, or has broken it off. */
  readonly ending: Promise<Kept>;
  hasEnded = false;
  private isSent = false;
  readonly recording: Recording;
  private readonly earlier;
  private readonly connection: Connection | undefined;
  private settle: (ending: Kept) => void = () => undefined;
  /** The last bytes, which would complete the response. */
  private held: Chunk | undefined;
  hasLeft = false;
  private timer: NodeJS.Timeout | undefined;
  /** The connection that the response was detached from when its client left. */
  private leftSocket: Socket | undefined;
  private hidesDeparture = true;

  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    private readonly limits: Pick<ResolvedOptions, 'maxResponseBytes' | 'leaseDuration' | 'cacheDuration'>,
  ) {
    this.ending = new Promise(resolve => {
      this.settle = resolve;
    });
    this.recording = new Recording(res, limits.maxResponseBytes);
    /* eslint-disable @typescript-eslint/unbound-method -- they are called with `res` as `this`. */
    const { writeHead, write, end, flushHeaders, addTrailers, destroy } = res;
    this.earlier = { writeHead, write, end, flushHeaders, addTrailers, destroy };
    (res as Recorded)[RECORDER] = this;
    // (One by one: a loop, or `Object.assign`, takes five times as long.)
    res.writeHead = Recorder.methods.writeHead;
    res.write = Recorder.methods.write as typeof write;
    res.end = Recorder.methods.end as typeof end;
    res.flushHeaders = Recorder.methods.flushHeaders;
    res.addTrailers = Recorder.methods.addTrailers;
    res.destroy = Recorder.methods.destroy;
    /* eslint-enable @typescript-eslint/unbound-method */
    // The responses of adapters have no connection of node's: they emit `close`, or never notice.
    if (req.socket instanceof Socket) this.connection = connectionOf(req.socket);
    else res.once('close', this.clientLeft.bind(this));
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

  /** Lets the handler learn at once when its client leaves, or has left: no response is to be stored. */
  showDeparture(): void {
    const { res, leftSocket } = this;
    this.hidesDeparture = false;
    if (!leftSocket) return;
    this.leftSocket = undefined;
    withoutClient.delete(res);
    res.assignSocket(leftSocket);
    this.earlier.destroy.call(res);
    res.emit('close');
  }

  /** Lets the end go out. */
  finish(): void {
    const { res, leftSocket, held } = this;
    this.stop();
    if (leftSocket) res.once('finish', () => (this.leftSocket = undefined)).assignSocket(leftSocket);
    // Loggers report what is sent, whatever the handler has set since.
    res.statusCode = this.status;
    // Also without a client: earlier middlewares (a session) do their work at the end.
    try {
      this.earlier.end.call(res, held, 'utf8');
    } catch (error) {
      this.abort();
      throw error;
    }
    // Node itself emits `finish` in the next tick if all was sent before; to hear it twice would end the process.
    if (leftSocket) process.nextTick(this.tellWithoutClient.bind(this));
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
    this.settle('nothing');
  }

  /** Ends the recording: what is written from now on goes to the earlier methods. */
  stop(): void {
    this.isSent = true;
    clearTimeout(this.timer);
  }

  /** Called when the client leaves, or the server or the handler closes the connection. */
  clientLeft(): void {
    const { req, res } = this;
    if (this.isSent || this.hasLeft) return;
    if (this.connection && this.hidesDeparture && res.socket === req.socket && !res.destroyed) {
      this.leftSocket = req.socket;
      res.detachSocket(req.socket);
      // Node aborts a request whose connection closes: parsers would take a whole body for one that broke off.
      if (req.complete) req.destroy = () => req;
    }
    if (this.hidesDeparture) withoutClient.add(res);
    this.hasLeft = true;
    this.limitTime();
    res.emit('drain');
  }

  /** The methods of every response that is recorded: to make six functions for each would cost a microsecond. */
  static readonly methods = {
    writeHead(this: Recorded, status: number, reason?: string | HeadersArgument, headers?: HeadersArgument) {
      const { [RECORDER]: recorder } = this;
      const { earlier, recording } = recorder;
      // Node throws its own errors.
      if (recording.head || recorder.isSent || !(status >= 100 && status <= 999))
        return Reflect.apply(earlier.writeHead, this, [status, reason, headers]) as ServerResponse;
      recording.setHead(status, reason, headers);
      const head = recording.takeHead();
      earlier.writeHead.call(this, this.statusCode);
      recording.head = head;
      recorder.limitTime();
      return this;
    },

    write(this: Recorded, chunk: Chunk, encoding?: Encoding, callback?: Callback): boolean {
      const { [RECORDER]: recorder } = this;
      const { earlier, recording } = recorder;
      const done = typeof encoding === 'function' ? encoding : callback;
      if (recorder.isWaiting) return recorder.accept(done);
      if (recorder.isSent || !isChunk(chunk))
        return earlier.write.call(this, chunk, encoding as BufferEncoding, callback);
      recorder.beginHead();
      const wasComplete = recording.isComplete();
      const bytes = bytesOf(chunk, encoding);
      recording.keep(bytes);
      recorder.limitTime();
      if (wasComplete || recorder.goesOnAlone) return recorder.accept(done);
      if (!recording.isComplete()) return earlier.write.call(this, bytes, done as never);
      recorder.held = bytes;
      // The handler may wait for it before it ends.
      if (done) process.nextTick(done);
      return true;
    },

    end(this: Recorded, chunk?: Chunk | Callback | null, encoding?: Encoding, callback?: Callback): ServerResponse {
      const { [RECORDER]: recorder } = this;
      const last = typeof chunk === 'function' ? undefined : (chunk ?? undefined);
      const done = typeof chunk === 'function' ? chunk : typeof encoding === 'function' ? encoding : callback;
      if (recorder.isSent || (last !== undefined && !isChunk(last)))
        return recorder.earlier.end.call(this, chunk, encoding as BufferEncoding, callback);
      if (done) this.once('finish', done);
      if (!recorder.isWaiting) recorder.holdEnd(last, encoding);
      return this;
    },

    /** Sends the head, unless it is the whole response (HEAD, 204): then it waits like any other last byte. */
    flushHeaders(this: Recorded): void {
      const { [RECORDER]: recorder } = this;
      if (recorder.isWaiting) return;
      recorder.beginHead();
      if (!recorder.recording.isComplete() && !recorder.goesOnAlone) recorder.earlier.flushHeaders.call(this);
    },

    addTrailers(this: Recorded, trailers: TrailersArgument): void {
      const { [RECORDER]: recorder } = this;
      if (recorder.isWaiting) return;
      recorder.earlier.addTrailers.call(this, trailers);
      recorder.recording.keepTrailers(trailers);
    },

    destroy(this: Recorded, error?: Error): ServerResponse {
      const { [RECORDER]: recorder } = this;
      const { connection, leftSocket } = recorder;
      if (recorder.isWaiting && connection && !recorder.hasLeft) {
        connection.closesAfterEnd = true;
        return this;
      }
      // An earlier middleware may destroy it instead of passing the end on.
      if (recorder.isSent) connection?.responses.delete(recorder);
      // (From Node 24 on, node destroys a pipelined response whose connection has closed: its handler goes on, too.)
      if (leftSocket || !recorder.goesOnAlone) recorder.settle(recorder.brokenOff);
      // It is told when its run is recorded.
      return leftSocket ? this : recorder.earlier.destroy.call(this, error);
    },
  };

  /** Writes the head through the methods of the middlewares after us: the handler has not written it. */
  private beginHead(): void {
    if (!this.recording.head) this.res.writeHead(this.res.statusCode);
  }

  private holdEnd(last: Chunk | undefined, encoding: Encoding | undefined): void {
    const { recording } = this;
    const bytes = bytesOf(last, encoding);
    if (!recording.head) recording.declareLength(bytes.length);
    this.beginHead();
    if (last !== undefined && !recording.isComplete()) this.held = asSent(bytes);
    recording.keep(bytes);
    this.hasEnded = true;
    (this.res as Recorded)[HELD_END] = true;
    clearTimeout(this.timer);
    const { head, size } = recording;
    const isShort = head?.hasContent && head.length !== undefined && size < head.length;
    this.settle(isShort ? this.brokenOff : (recording.response ?? 'record'));
  }

  /** What is kept of a response that is broken off. A later middleware (compression) may hold one that has ended. */
  private get brokenOff(): Kept {
    const hasBegun = this.recording.head !== undefined || this.req.complete;
    return (this.hasLeft && hasBegun) || this.res.end !== Recorder.methods.end ? 'record' : 'nothing';
  }

  private get isWaiting(): boolean {
    return this.hasEnded && !this.isSent;
  }

  /** True if the client has left, and the handler does not learn of it. */
  private get goesOnAlone(): boolean {
    return this.hasLeft && this.hidesDeparture;
  }

  /** A handler without a client is over `leaseDuration` after it has written last, or `cacheDuration` if it has not. */
  private limitTime(): void {
    if (!this.hasLeft || this.hasEnded) return;
    const { leaseDuration, cacheDuration } = this.limits;
    clearTimeout(this.timer);
    const ms = Math.min(this.recording.head ? leaseDuration : cacheDuration, MAX_TIMER);
    this.timer = setTimeout(this.settle.bind(this, 'record'), ms).unref();
  }

  /**
   * Accepts what is not to be sent in the next turn: a stream that always has more would never let other code run.
   * @returns false; true if a middleware with an `on` of its own (compression) keeps who waits for `drain`.
   */
  private accept(done: Callback | undefined): boolean {
    setImmediate(() => {
      done?.();
      this.res.emit('drain');
    });
    return Object.hasOwn(this.res, 'on');
  }

  /** Tells a handler whose client has left that its run is recorded. */
  private tellWithoutClient(): void {
    if (!this.leftSocket) return;
    // Documented as deprecated; `writableFinished` is read from it.
    Object.assign(this.res, { finished: true });
    this.res.emit('finish');
  }

  private passedOn(): void {
    const { req, res, connection } = this;
    connection?.responses.delete(this);
    if (connection?.closesAfterEnd) res.once('finish', () => req.socket.destroySoon());
  }
}
