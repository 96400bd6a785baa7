import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Returns the text that tells a caller apart, as it is at this moment. @throws any error, if it cannot be read. */
export type CallerText = () => string | undefined;

/** Returns how a caller differs from the one before; undefined if it does not, or no one is there. */
export function callerChange(before: string | undefined, callerText: CallerText): string | undefined {
  try {
    const now = callerText();
    return now === undefined || now === before ? undefined : 'has another caller than before';
  } catch (error) {
    return `has a caller that cannot be read (${String(error)})`;
  }
}

/**
 * Looks for a change with the real socket as `req.socket`, which is a proxy while a response is recorded. (An
 * application may keep data by socket.)
 * @param whenClosed returns the change if the caller is read from a connection that is closed by now: it has no
 * certificate and no address any more, so that the caller can only be another one.
 */
export function callerChangeOn(
  socket: Socket,
  req: IncomingMessage,
  change: () => string | undefined,
  whenClosed: () => string | undefined,
): string | undefined {
  const property = Object.getOwnPropertyDescriptor(req, 'socket');
  let reads = 0;
  const get = (): Socket => {
    reads++;
    return socket;
  };
  Object.defineProperty(req, 'socket', { get, configurable: true, enumerable: true });
  try {
    const found = change();
    return found !== undefined && reads > 0 && socket.destroyed ? whenClosed() : found;
  } finally {
    if (property) Object.defineProperty(req, 'socket', property);
    else Reflect.deleteProperty(req, 'socket');
  }
}
