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

const WAYS_TO_CLOSE = ['destroy', 'destroySoon', 'end'] as const;

/** What a response looks like, to the handler and to the middlewares around us, while it is held back. */
export class Appearance {
  private readonly progress: Progress;
  private destroyWanted = false;
  private guarded: Socket | null = null;

  /** @param socket of the request: a pipelined response has none until it is its turn. */
  constructor(
    private readonly res: ServerResponse,
    private readonly socket: Socket,
  ) {
    this.progress = res as unknown as Progress;
  }

  /** Head written, while it is not. */
  looksBegun(): void {
    this.progress._header = 'held back by bindonce';
  }

  hasNotBegun(): void {
    this.progress._header = null;
  }

  /**
   * Ended, while it is not. Without us it would have left by now, so what closes the connection waits until it has: Express does
   * after an error ("cannot respond"), and `server.close()` takes a connection with an ended response for idle.
   */
  looksEnded(): void {
    this.progress.finished = true;
    const { socket } = this.res;
    if (!socket) return;
    this.guarded = socket;
    for (const way of WAYS_TO_CLOSE) {
      socket[way] = () => {
        this.destroyWanted = true;
        return socket;
      };
    }
  }

  /** `res.destroy()`, and what closes the request's own connection, after the end. */
  destroyLater(): void {
    this.destroyWanted = true;
  }

  hasNotEnded(): void {
    this.progress.finished = false;
    const { guarded } = this;
    if (guarded) for (const way of WAYS_TO_CLOSE) Reflect.deleteProperty(guarded, way);
    if (this.destroyWanted)
      this.res.once('finish', () => {
        this.socket.destroySoon();
      });
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
