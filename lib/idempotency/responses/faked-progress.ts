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

  /** @param socket of the request: a pipelined response has none before its turn. */
  constructor(
    private readonly res: ServerResponse,
    private readonly socket: Socket,
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
    const { socket } = this.res;
    if (socket) this.delay(socket);
    else this.res.once('socket', this.delay);
  }

  /** Delays the closing of the connection; a pipelined response gets its socket when its turn comes. */
  private readonly delay = (socket: Socket): void => {
    this.stopDelaying = delayClose(socket, () => {
      this.destroyWanted = true;
    });
  };

  /** Closes the connection once the response has been sent. */
  closeAfterEnd(): void {
    this.destroyWanted = true;
  }

  restoreEnd(): void {
    this.progress.finished = false;
    this.res.removeListener('socket', this.delay);
    this.stopDelaying?.();
    if (this.destroyWanted)
      this.res.once('finish', () => {
        closeSoon(this.socket);
      });
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
