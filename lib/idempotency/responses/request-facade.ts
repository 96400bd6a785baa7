import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WAYS_TO_CLOSE } from '../../http/closing';

type Method = (...args: unknown[]) => unknown;
type Listener = (this: Socket, ...args: unknown[]) => void;
type Destroy = (this: IncomingMessage, error?: Error) => IncomingMessage;

const closing = new Set<PropertyKey>(WAYS_TO_CLOSE);

/** What a connection looks like whose client is there. */
const OPEN = new Map<PropertyKey, unknown>([
  ['destroyed', false],
  ['closed', false],
  ['errored', null],
  ['readable', true],
  ['writable', true],
]);

/** The events by which a connection shows that its client has disconnected. It emits each of them once at most. */
const departures = new Set<unknown>(['end', 'error', 'close']);

/** The ways to add a listener; for an event that is emitted once, `once` does what `on` does. */
const ADDING = new Map<PropertyKey, 'on' | 'prependListener'>([
  ['on', 'on'],
  ['addListener', 'on'],
  ['once', 'on'],
  ['prependListener', 'prependListener'],
  ['prependOnceListener', 'prependListener'],
]);

/** Node's requests have the socket under an old name, too. */
interface WithClient {
  client?: unknown;
}

/** Called when the handler closes the connection. */
interface ClosingHandler {
  /** @returns false to leave it open. */
  closedByHandler(): boolean;
}

/**
 * Changes a request for the middlewares and the handler after `idempotency()`.
 *
 * `req.socket` becomes a proxy of the real socket, which node itself, `res.socket` and the server keep. So a handler
 * that closes the connection is told apart, without guessing, from a client that disconnects and from a server that
 * closes it. And while the response is held open for a client that has disconnected, the request looks as if its client
 * were there: body parsers and on-finished ask the socket, and a handler that checks `req.aborted` would end a response
 * that is half written. Listeners that are added to `req.socket` (by node, too, for `req.signal`) are told as late: a
 * handler would break off its call to a payment provider that has charged already.
 */
export class RequestFacade implements ProxyHandler<Socket> {
  /** The real socket. */
  readonly socket: Socket;
  private readonly proxy: Socket;
  /** The request's own `destroy`. */
  private readonly below: Destroy;
  private bound: WeakMap<object, Method> | undefined;
  private isHeld = true;
  private isAbortedByNode = false;
  private abort: (() => void) | undefined;
  /** Tell the handler's listeners on the socket that the client has disconnected. */
  private readonly untold: (() => void)[] = [];

  constructor(
    private readonly req: IncomingMessage,
    private readonly handler: ClosingHandler,
  ) {
    this.socket = req.socket;
    this.below = Reflect.get<IncomingMessage, 'destroy'>(req, 'destroy');
    this.proxy = new Proxy(this.socket, this);
    // An application may have defined a getter.
    if (!Reflect.set(req, 'socket', this.proxy))
      Object.defineProperty(req, 'socket', { value: this.proxy, writable: true, configurable: true, enumerable: true });
    this.replaceClient(this.socket, this.proxy);
    req.destroy = this.destroy.bind(this);
  }

  /** Shows the real state of the request and its socket from now on; aborts a request whose client has disconnected. */
  showReality(): void {
    this.isHeld = false;
    this.abort?.();
    this.abort = undefined;
    for (const tell of this.untold.splice(0)) tell();
  }

  /** Leaves a request whose client has disconnected as it is: no request is aborted after its response has finished. */
  forgetAbort(): void {
    this.abort = undefined;
  }

  /** Gives the request its socket back: others (stoppable) keep their accounts of connections by it. */
  putSocketBack(): void {
    if (this.req.socket === this.proxy) this.req.socket = this.socket;
    this.replaceClient(this.proxy, this.socket);
  }

  private replaceClient(from: Socket, to: Socket): void {
    const req: IncomingMessage & WithClient = this.req;
    if (req.client === from) req.client = to;
  }

  /** A trap of the proxy. */
  get(socket: Socket, name: PropertyKey): unknown {
    if (this.isHeld && OPEN.has(name)) return OPEN.get(name);
    const value: unknown = Reflect.get(socket, name, socket);
    if (typeof value !== 'function' || !isMethod(socket, name)) return value;
    const bound = (this.bound ??= new WeakMap<object, Method>());
    const known = bound.get(value) ?? this.methodOf(name, value as Method);
    bound.set(value, known);
    return known;
  }

  /** A trap of the proxy. */
  set(socket: Socket, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(socket, name, value, socket);
  }

  /** Makes a method that calls the real socket's, and returns the proxy if that returns the socket. */
  private methodOf(name: PropertyKey, method: Method): Method {
    const { socket, proxy } = this;
    const adding = ADDING.get(name);
    return (...args) => {
      const [event, listener] = args;
      if (adding && this.isHeld && departures.has(event) && typeof listener === 'function') {
        socket[adding](event as string, this.held(event as string, listener as Listener));
        return proxy;
      }
      if (closing.has(name) && !this.isAbortedByNode) {
        if (!this.handler.closedByHandler()) return proxy;
        this.isHeld = false;
      }
      const returned = Reflect.apply(method, socket, args);
      return returned === socket ? proxy : returned;
    };
  }

  /** Makes a listener that is told by `showReality()`. Node finds it by its `listener`, to list or remove it. */
  private held(event: string, listener: Listener): Listener {
    const { socket } = this;
    const held: Listener = (...args) => {
      if (!this.isHeld) {
        Reflect.apply(listener, socket, args);
        return;
      }
      this.untold.push(() => {
        if (socket.rawListeners(event).includes(held)) Reflect.apply(listener, socket, args);
      });
    };
    return Object.assign(held, { listener });
  }

  /** Delays the abort of a complete request until `showReality()`: node aborts it when the client disconnects. */
  private destroy(error?: NodeJS.ErrnoException): IncomingMessage {
    const { req, below } = this;
    if (error?.code !== 'ECONNRESET') return below.call(req, error);
    this.abort = () => {
      this.isAbortedByNode = true;
      below.call(req, error);
      this.isAbortedByNode = false;
    };
    if (!req.complete) {
      // It will never be complete: a body parser that waits for the rest must see that the client has disconnected.
      this.isHeld = false;
      this.abort();
    }
    return req;
  }
}

/** Returns false for a function that a program has set on the socket, and for its class. */
function isMethod(socket: Socket, name: PropertyKey): boolean {
  return name !== 'constructor' && name in (Object.getPrototypeOf(socket) as object);
}
