import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeSoon } from '../../http/closing';
import { delayClose } from '../../http/delayed-close';

/**
 * Properties by which node, and other middlewares, see how far a response is. While head and end are held back, the
 * first two are set as if both had been sent: `headersSent` and `writableEnded` are true, and a second response fails
 * as it would without bindonce. (express-session and finalhandler read `_header`, on-finished reads `finished`.)
 */
interface Progress {
  _header: string | null;
  finished: boolean;
  destroyed: boolean;
  _closed: boolean;
}

/** Makes a response that is held back look sent, to the handler and to other middlewares. */
export class FakedProgress {
  private readonly progress: Progress;
  private destroyWanted = false;
  private stopDelaying: (() => void) | undefined;
  /** True while an earlier middleware has the end of the response and has not passed it on to node. */
  private isOnItsWay = false;
  private limit: NodeJS.Timeout | undefined;

  /**
   * @param socket of the request: a pipelined response has none before its turn.
   * @param endWithin milliseconds after which a connection that is to be closed does not wait for the end any more.
   */
  constructor(
    private readonly res: ServerResponse,
    private readonly socket: Socket,
    private readonly endWithin: number,
  ) {
    this.progress = res as unknown as Progress;
  }

  /** Makes the head look written. */
  pretendHeadSent(): void {
    this.progress._header = 'held back by bindonce';
  }

  restoreHead(): void {
    this.progress._header = null;
  }

  /**
   * Makes the response look ended. Without bindonce it would have been sent by now, so closing the connection is
   * delayed until it has been: Express closes it after an error ("cannot respond"), and `server.close()` considers a
   * connection with an ended response idle.
   */
  pretendEnded(): void {
    this.progress.finished = true;
    this.delayClosing();
  }

  /** Closes the connection once the response has been sent. */
  closeAfterEnd(): void {
    this.destroyWanted = true;
    if (this.isOnItsWay) this.limitDelay();
  }

  restoreEnd(): void {
    this.progress.finished = false;
    this.allowClosing();
  }

  /**
   * Delays the closing further if an earlier middleware will pass the end on to node later (express-session saves
   * first). To be called when that middleware has been given the end: until then, it may close the connection itself.
   */
  awaitEnd(): void {
    if (this.progress.finished) return;
    this.isOnItsWay = true;
    this.delayClosing();
    if (this.destroyWanted) this.limitDelay();
    this.res.once('prefinish', () => {
      this.allowClosing();
    });
  }

  /** Ends the delay; closes the connection once the response has been sent, if that was wanted meanwhile. */
  allowClosing(): void {
    this.isOnItsWay = false;
    clearTimeout(this.limit);
    this.res.removeListener('socket', this.delay);
    this.stopDelaying?.();
    if (this.destroyWanted)
      this.res.once('finish', () => {
        closeSoon(this.socket);
      });
  }

  /** Delays the closing of the connection; a pipelined response gets its socket when its turn comes. */
  private delayClosing(): void {
    const { socket } = this.res;
    if (socket) this.delay(socket);
    else this.res.once('socket', this.delay);
  }

  private readonly delay = (socket: Socket): void => {
    // A pipelined response may have been passed on to node before its turn.
    if (this.isOnItsWay && this.progress.finished) {
      this.allowClosing();
      return;
    }
    this.stopDelaying = delayClose(socket, () => {
      this.closeAfterEnd();
    });
  };

  /** Closes the connection after a time, although the end is not there: the middleware may never pass it on. */
  private limitDelay(): void {
    this.limit ??= setTimeout(() => {
      this.allowClosing();
      this.socket.destroy();
    }, this.endWithin).unref();
  }

  /**
   * Makes the response look open although the client has disconnected: a handler that pipes or sends goes on to the
   * end. Without a socket, on-finished (and so `sendFile`) does not consider it finished. (The socket still refers to
   * the response: node asserts that when it is finished.)
   */
  pretendOpen(): void {
    Object.assign(this.res, { destroyed: false, _closed: false, socket: null });
    // What the client has not received counts as sent: a stream that looks whether it may go on would wait forever.
    Object.defineProperty(this.res, 'writableNeedDrain', { value: false, configurable: true });
  }

  /**
   * Makes the response look sent, the last one on its connection: node must not give the closed socket to the next
   * one. Node asserts that the socket refers to the response that finishes; to a pipelined one, it never did.
   */
  pretendFinished(): void {
    Object.defineProperty(this.res, 'writableFinished', { value: true, configurable: true });
    Object.assign(this.res, { _last: true });
    Object.assign(this.socket, { _httpMessage: this.res });
  }

  showClosed(): void {
    this.progress.destroyed = true;
    this.progress._closed = true;
  }
}
