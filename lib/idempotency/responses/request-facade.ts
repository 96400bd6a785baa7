import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

type Method = (...args: unknown[]) => unknown;

const WAYS_TO_CLOSE = new Set<PropertyKey>(['destroy', 'destroySoon', 'resetAndDestroy', 'end']);

/**
 * A request as it looks to whatever comes after this middleware.
 *
 * `req.socket` is a stand-in for the real socket, which node itself, `res.socket` and the server keep. So a handler that closes the
 * connection is told apart, without guessing, from a client that leaves and from a server that closes it. And while the response
 * is held open for a client that has left, the request looks as if its client were there: body parsers and on-finished ask the
 * socket, and a handler that looks at `req.aborted` would end a response that it has written half of.
 */
export class RequestFacade {
  /** The real one. */
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
    // Writable: `pipeline` sets the socket of a request that fails to null.
    const property = { value: this.standIn(), writable: true, configurable: true, enumerable: true };
    Object.defineProperty(req, 'socket', property);
    this.keepFromAborting(req);
  }

  /** From now on the request and its socket say what has become of them; a request whose client has left is aborted. */
  letGo(): void {
    this.isHeld = false;
    this.abort?.();
    this.abort = undefined;
  }

  private standIn(): Socket {
    const { socket } = this;
    const bound = new WeakMap<object, Method>();
    const standIn: Socket = new Proxy(socket, {
      get: (_, name) => {
        if (this.isHeld && name === 'destroyed') return false;
        if (this.isHeld && name === 'readable') return true;
        const value: unknown = Reflect.get(socket, name, socket);
        if (typeof value !== 'function' || !isMethod(socket, name)) return value;
        const known = bound.get(value) ?? this.methodOf(socket, name, value as Method, () => standIn);
        bound.set(value, known);
        return known;
      },
      set: (_, name, value) => Reflect.set(socket, name, value, socket),
    });
    return standIn;
  }

  /** A method of the socket, called on the real one; where it returns the socket, it returns the stand-in. */
  private methodOf(socket: Socket, name: PropertyKey, method: Method, standIn: () => Socket): Method {
    return (...args) => {
      if (WAYS_TO_CLOSE.has(name) && !this.isAbortedByNode) {
        if (!this.onClose()) return standIn();
        this.isHeld = false;
      }
      const returned = Reflect.apply(method, socket, args);
      return returned === socket ? standIn() : returned;
    };
  }

  /** Node aborts a request when its client leaves, even if all of it has arrived: a complete one stays as it is until `letGo()`. */
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

/** What a program has put on the socket by itself is no method of it, and neither is its class. */
function isMethod(socket: Socket, name: PropertyKey): boolean {
  return name !== 'constructor' && name in (Object.getPrototypeOf(socket) as object);
}
