import type { Socket } from 'node:net';
import { MAX_TIMER } from '../../options/check';

/** A recorded response on a connection. */
interface OnConnection {
  /** True while its end is held back. */
  readonly isHeld: boolean;
  /** Called before node notices that the connection has closed. */
  connectionClosed(): void;
}

/** A connection with recorded responses. (More than one if the client pipelines its requests.) */
export interface Connection {
  readonly responses: Set<OnConnection>;
  /** True if the connection is to be closed once the end that is held back has been sent. */
  closesAfterEnd: boolean;
}

const connections = new WeakMap<Socket, Connection>();

/**
 * Returns the account of a connection. It gets one listener, and one guard: Express closes it after an error that
 * follows a response ("cannot respond"), which without us would have been sent by then.
 */
export function connectionOf(socket: Socket): Connection {
  const known = connections.get(socket);
  if (known) return known;
  const connection: Connection = { responses: new Set(), closesAfterEnd: false };
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the socket as `this`.
  const { destroy } = socket;
  socket.destroy = error => {
    // If it has failed, or its client has ended it, then no one waits for the end.
    const isHeld = !error && socket.writable && [...connection.responses].some(response => response.isHeld);
    if (!isHeld) return destroy.call(socket, error);
    connection.closesAfterEnd = true;
    return socket;
  };
  socket.prependListener('close', () => {
    for (const response of connection.responses) response.connectionClosed();
  });
  connections.set(socket, connection);
  return connection;
}

/** Times in milliseconds. */
export interface DepartureTimes {
  readonly leaseDuration: number;
  readonly cacheDuration: number;
}

/**
 * Ends the run of a handler whose client has left and that does not end its response: `leaseDuration` after it has
 * written last, and `cacheDuration` after its client has left at the latest.
 */
export class Departure {
  /** When the client left, and when the handler wrote last, in milliseconds of the monotonic clock. */
  private readonly left = performance.now();
  private wrote: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param hasBegun true if the handler has written before. */
  constructor(
    private readonly times: DepartureTimes,
    hasBegun: boolean,
    private readonly onOver: () => void,
  ) {
    if (hasBegun) this.wrote = this.left;
    this.wait();
  }

  /** Notes that the handler has written something. */
  handlerWrote(): void {
    const isFirst = this.wrote === undefined;
    this.wrote = performance.now();
    if (isFirst) this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wait(): void {
    const { leaseDuration, cacheDuration } = this.times;
    const due = Math.min(this.left + cacheDuration, (this.wrote ?? Infinity) + leaseDuration);
    const ms = due - performance.now();
    this.stop();
    if (ms > 0) this.timer = setTimeout(this.wait.bind(this), Math.min(Math.ceil(ms), MAX_TIMER)).unref();
    else this.onOver();
  }
}
