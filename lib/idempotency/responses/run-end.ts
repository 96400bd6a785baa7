import type { IncomingMessage, ServerResponse } from 'node:http';
import { steps } from '../../basics/steps';
import { onClosing } from '../../http/delayed-close';
import { Departure, type DepartureListener, type DepartureTimes } from './departure';
import type { FakedProgress } from './faked-progress';
import { finishOnSharedSocket } from './finish-socket';
import type { Outgoing } from './outgoing';
import type { RecordedResponse } from './recorded-response';
import type { Ending } from './recording';
import { RequestFacade } from './request-facade';
import type { Callback } from './response-parts';
import { WriteCallbacks } from './write-callbacks';

/** The handler has run, and there is no response to keep. */
const RAN: Ending = { kind: 'complete', response: undefined };
/** The handler has broken its response off: it may run again. */
const CUT_OFF: Ending = { kind: 'cut-off' };

/** A recorded response, as far as its handler has come with it. */
interface Written {
  readonly hasHead: boolean;
  readonly hasEnded: boolean;
  /** Lets go of what is held back. Called once, when the client has disconnected: it is of no use any more. */
  clientLeft(): void;
}

/**
 * Decides how the run of a handler ends: with a response, or because its client disconnects, it destroys the response,
 * or it closes the connection.
 */
export class RunEnd implements DepartureListener {
  readonly ending: Promise<Ending>;
  private settle: (ending: Ending) => void = () => undefined;
  private readonly request: RequestFacade;
  private readonly departure: Departure;
  private readonly ownEnd: ServerResponse['end'];
  private callbacks: WriteCallbacks | undefined;
  private readonly stopWatching: () => void;
  /** True once it is decided how the run ends. */
  isOver = false;
  private isRecordingOver = false;
  /** True if a retry gets the response. */
  private isStored = false;

  /** To be called when `res.end` is that of the recording. */
  constructor(
    private readonly req: IncomingMessage,
    private readonly res: ServerResponse,
    times: DepartureTimes,
    private readonly written: Written,
    private readonly faked: FakedProgress,
    private readonly outgoing: Outgoing,
  ) {
    this.ending = new Promise(resolve => {
      this.settle = resolve;
    });
    this.request = new RequestFacade(req, this);
    this.departure = new Departure(times, this);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it is compared, not called.
    this.ownEnd = res.end;
    res.destroy = this.destroy.bind(this);
    res.emit = this.emit.bind(this) as typeof res.emit;
    const note = this.noteClosing.bind(this);
    // The code that closes the connection may go on with `res.socket` in this tick.
    this.stopWatching = onClosing(this.request.socket, () => steps.nextTick(note));
    note();
  }

  get isClientGone(): boolean {
    return this.departure.isGone;
  }

  /** True while the connection is broken, or has closed, and the handler must not learn of it. */
  get hidesBreak(): boolean {
    const { socket } = this.request;
    // The callback of a write that has failed is called before the socket is destroyed.
    return this.departure.isHidden && (socket.destroyed || socket.errored !== null);
  }

  /** A request that the handler itself destroys (`pipeline` does, if what it writes to fails) has not broken off. */
  get isUploadBrokenOff(): boolean {
    return !this.req.complete && this.request.socket.destroyed;
  }

  /** Notes that the handler has written the head, or a part of the body. */
  wrote(): void {
    this.departure.wrote();
  }

  /** Returns what node gets in place of the callback of a write. */
  callbackFor(callback: Callback): Callback {
    return (this.callbacks ??= new WriteCallbacks(this)).keep(callback);
  }

  /** Ends the run when the handler has ended its response. @param response undefined if it cannot be replayed. */
  responded(response: RecordedResponse | undefined): void {
    this.resolve({ kind: 'complete', response });
  }

  /** Ends the run when the handler has ended its response before the length that its head promises. */
  respondedInPart(): void {
    this.faked.closeAfterEnd();
    this.resolve(this.brokenOff());
  }

  /** Lets the handler learn when its client disconnects: no response is to be stored. */
  stopHidingDeparture(): void {
    this.departure.stopHiding();
  }

  /** Shows the real state of the connection, when the recording is over. @param isStored as in `Recording.finish`. */
  endRecording(isStored = false): void {
    this.isRecordingOver = true;
    this.isStored = isStored;
    this.departure.stop();
    this.stopWatching();
    this.request.putSocketBack();
    this.departure.stopHiding();
    this.request.showReality();
    if (this.departure.isGone) this.faked.showClosed();
  }

  /** Ends the run when the handler, or Express after an error, closes the connection. */
  closedByHandler(): boolean {
    return this.close(this.brokenOff());
  }

  /** Ends the run of a handler that does not end its response: with its client gone, no other event would. */
  giveUpOnEnd(): void {
    this.resolve(this.written.hasHead ? RAN : CUT_OFF);
  }

  /** Emits `close`; before that `finish`, if a retry gets the response: what was done for it must not be undone. */
  emitClose(): void {
    if (this.isStored) {
      this.request.forgetAbort();
      finishOnSharedSocket(this.req, () => {
        this.outgoing.finish();
      });
    }
    this.faked.showClosed();
    this.request.showReality();
    this.outgoing.emit('close');
  }

  /** Replaces node's `destroy`. The handler, or a pipeline whose source has failed, writes nothing more after it. */
  private destroy(error?: Error): ServerResponse {
    const { departure, request, res } = this;
    // From Node 24 on, node destroys a pipelined response when its connection closes: then the client is gone.
    if (!departure.isGone && !res.socket && request.socket.destroyed) res.emit('close');
    else if (this.close(this.hasLostClient() ? RAN : CUT_OFF)) this.outgoing.destroy(error);
    return res;
  }

  /**
   * Holds `close` back: the handler goes on without its client. It is emitted once, when no response is waited for any
   * more.
   */
  private emit(event: string, ...args: unknown[]): boolean {
    const { departure, outgoing } = this;
    // Node may emit it for a connection that has closed.
    if (event === 'finish' && departure.isReported) return true;
    if (event !== 'close') return outgoing.emit(event, ...args);
    if (departure.isGone) {
      // After the connection, node destroys a pipelined response, which emits `close` once more.
      if (departure.isHidden && !departure.isReported) this.faked.pretendOpen();
      return true;
    }
    this.written.clientLeft();
    if (departure.isHidden) this.faked.pretendOpen();
    departure.clientLeft();
    if (!departure.isHidden) return true;
    // A handler that waits for the closed socket would wait forever.
    this.callbacks?.settle();
    outgoing.emit('drain');
    return true;
  }

  /** Notes that the client has left before node emits `close`: until then, on-finished would see it on the socket. */
  private noteClosing(): void {
    // The sockets of adapters do not say whether they are writable.
    const isClosing = (this.request.socket.writable as boolean | undefined) === false;
    if (isClosing && this.departure.isHidden && !this.isOver) this.emit('close');
  }

  /** @returns whether to close the connection now; after the end, it is closed when the response has been sent. */
  private close(ending: Ending): boolean {
    // The `end` of an earlier middleware may close the connection itself.
    if (this.written.hasEnded && !this.isRecordingOver && !this.outgoing.isEnding) {
      this.faked.closeAfterEnd();
      return false;
    }
    this.resolve(ending);
    this.departure.stopHiding();
    return true;
  }

  /**
   * Returns the ending of a run whose response was broken off. A later middleware that has put its own `end` in front
   * of ours (compression) may hold a response that has ended.
   */
  private brokenOff(): Ending {
    return this.hasLostClient() || this.res.end !== this.ownEnd ? RAN : CUT_OFF;
  }

  /**
   * Returns true if the client is gone, which may be the only reason for the handler to break its response off: it may
   * have learned it from the socket, before or instead of `close` on the response. But a handler that has not begun to
   * respond to an upload that broke off may run again, with the whole of it.
   */
  private hasLostClient(): boolean {
    if (!this.written.hasHead && !this.req.complete) return false;
    return this.departure.isGone || this.request.socket.destroyed;
  }

  private resolve(ending: Ending): void {
    this.isOver = true;
    this.departure.stop();
    this.settle(ending);
  }
}
