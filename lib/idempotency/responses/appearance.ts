import type { IncomingMessage, ServerResponse } from 'node:http';
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
  private socket: Socket | null = null;
  private destroyWanted = false;
  private abortRequest: (() => void) | undefined;

  constructor(private readonly res: ServerResponse) {
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
   * Ended, while it is not. An error after the end makes Express destroy the socket ("cannot respond"); without us the
   * response has left by then, so the destruction waits until it has.
   */
  looksEnded(): void {
    this.progress.finished = true;
    const { socket } = this.res;
    if (!socket) return;
    this.socket = socket;
    for (const way of WAYS_TO_CLOSE) {
      socket[way] = () => {
        this.destroyWanted = true;
        return socket;
      };
    }
  }

  /** `res.destroy()` after the end waits like the socket's. */
  destroyLater(): void {
    this.destroyWanted = true;
  }

  hasNotEnded(): void {
    this.progress.finished = false;
    const { socket } = this;
    if (!socket) return;
    for (const way of WAYS_TO_CLOSE) Reflect.deleteProperty(socket, way);
    if (this.destroyWanted) this.res.once('finish', () => { socket.destroySoon(); });
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
    this.abortRequest?.();
  }

  /**
   * Node aborts a request when its client goes, even if all of it has arrived. A body parser after us would find no body, and
   * a handler that looks at `req.aborted` would end a response that it has written half of; so a complete request stays as
   * it is until the response is handed over.
   */
  keepRequest(req: IncomingMessage): void {
    const destroy = req.destroy.bind(req);
    req.destroy = (error?: NodeJS.ErrnoException) => {
      if (!req.complete || error?.code !== 'ECONNRESET') return destroy(error);
      // on-finished, and with it body-parser, asks the socket.
      Object.defineProperty(req, 'socket', { value: Object.create(req.socket, { readable: { value: true } }) as Socket, configurable: true, writable: true });
      this.abortRequest = () => { destroy(error); };
      return req;
    };
  }
}
