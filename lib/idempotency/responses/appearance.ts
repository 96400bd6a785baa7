import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Two properties by which node itself, and the middlewares around us, tell how far a response is. While the head and the end
 * are held back they are set as if both had gone out: `headersSent` and `writableEnded` are true, and a second response
 * fails as it would without us. (express-session and finalhandler read `_header`, on-finished reads `finished`.)
 */
interface Progress {
  _header: string | null;
  finished: boolean;
}

/** What a response looks like, to the handler and to the middlewares around us, while it is held back. */
export class Appearance {
  private readonly progress: Progress;
  private destroyWanted = false;

  /** @param socket of the request: a pipelined response has none until it is its turn. */
  constructor(private readonly res: ServerResponse, private readonly socket: Socket) {
    this.progress = res as unknown as Progress;
  }

  /** Head written, while it is not. */
  looksBegun(): void {
    this.progress._header = 'held back by bindonce';
  }

  hasNotBegun(): void {
    this.progress._header = null;
  }

  /** Ended, while it is not. */
  looksEnded(): void {
    this.progress.finished = true;
  }

  /**
   * An error after the end makes Express destroy the socket ("cannot respond"); without us the response has left by then, so the
   * destruction waits until it has.
   */
  destroyLater(): void {
    this.destroyWanted = true;
  }

  hasNotEnded(): void {
    this.progress.finished = false;
    if (this.destroyWanted) this.res.once('finish', () => { this.socket.destroySoon(); });
  }

  /**
   * Open, while the client is gone: what is piped or sent into it goes on to its end. Without a socket, on-finished (and
   * with it `sendFile`) does not take it for finished. (The socket still knows the response: node asserts that when it is finished.)
   */
  looksOpen(): void {
    Object.assign(this.res, { destroyed: false, _closed: false, socket: null });
  }

  looksGone(): void {
    Object.assign(this.res, { destroyed: true, _closed: true });
  }
}
