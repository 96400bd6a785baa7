import type { Socket } from 'node:net';

/** A recorded response on a connection. */
interface OnConnection {
  /** True while its end is held back. */
  readonly isHeld: boolean;
  /** Called before node notices that the client has ended the connection, or that it has closed. */
  clientLeft(): void;
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
  // Node answers no client that has ended its side.
  for (const event of ['end', 'close'])
    socket.prependListener(event, () => {
      for (const response of connection.responses) response.clientLeft();
    });
  connections.set(socket, connection);
  return connection;
}
