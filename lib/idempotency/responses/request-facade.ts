import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

type Method = (...args: unknown[]) => unknown;

const WAYS_TO_CLOSE = new Set<PropertyKey>(['destroy', 'destroySoon', 'resetAndDestroy', 'end']);

/**
 * Changes a request for the middlewares and the handler after `idempotency()`.
 *
 * `req.socket` becomes a proxy of the real socket, which node itself, `res.socket` and the server keep. So a handler
 * that closes the connection is told apart, without guessing, from a client that disconnects and from a server that
 * closes it. And while the response is held open for a client that has disconnected, the request looks as if its client
 * were there: body parsers and on-finished ask the socket, and a handler that checks `req.aborted` would end a response
 * that is half written.
 */
export class RequestFacade {
  /** The real socket. */
  readonly socket: Socket;
  private isHeld = true;
  private isAbortedByNode = false;
  private abort: (() => void) | undefined;

  /** @param onClose called when the handler closes the connection; returns false to leave it open. */
  constructor(
    req: IncomingMessage,
    private readonly onClose: () => boolean,
  ) {
    this.socket = req.socket;
    // Writable, because `pipeline` sets the socket of a request that fails to null.
    const property = { value: this.proxy(), writable: true, configurable: true, enumerable: true };
    Object.defineProperty(req, 'socket', property);
    this.keepFromAborting(req);
  }

  /** Shows the real state of the request and its socket from now on; aborts a request whose client has disconnected. */
  letGo(): void {
    this.isHeld = false;
    this.abort?.();
    this.abort = undefined;
  }

  private proxy(): Socket {
    const { socket } = this;
    const bound = new WeakMap<object, Method>();
    const proxy: Socket = new Proxy(socket, {
      get: (_, name) => {
        if (this.isHeld && name === 'destroyed') return false;
        if (this.isHeld && name === 'readable') return true;
        const value: unknown = Reflect.get(socket, name, socket);
        if (typeof value !== 'function' || !isMethod(socket, name)) return value;
        const known = bound.get(value) ?? this.methodOf(socket, name, value as Method, () => proxy);
        bound.set(value, known);
        return known;
      },
      set: (_, name, value) => Reflect.set(socket, name, value, socket),
    });
    return proxy;
  }

  /** Makes a method that calls the real socket's, and returns the proxy if that returns the socket. */
  private methodOf(socket: Socket, name: PropertyKey, method: Method, proxy: () => Socket): Method {
    return (...args) => {
      if (WAYS_TO_CLOSE.has(name) && !this.isAbortedByNode) {
        if (!this.onClose()) return proxy();
        this.isHeld = false;
      }
      const returned = Reflect.apply(method, socket, args);
      return returned === socket ? proxy() : returned;
    };
  }

  /** Delays the abort of a complete request until `letGo()`: node aborts it when the client disconnects. */
  private keepFromAborting(req: IncomingMessage): void {
    const destroy = req.destroy.bind(req);
    req.destroy = (error?: NodeJS.ErrnoException) => {
      if (error?.code !== 'ECONNRESET') return destroy(error);
      this.abort = () => {
        this.isAbortedByNode = true;
        destroy(error);
        this.isAbortedByNode = false;
      };
      if (!req.complete) this.abort();
      return req;
    };
  }
}

/** Returns false for a function that a program has set on the socket, and for its class. */
function isMethod(socket: Socket, name: PropertyKey): boolean {
  return name !== 'constructor' && name in (Object.getPrototypeOf(socket) as object);
}
