import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

const closed = new Socket().destroy();
/** The connection of the response that finishes. */
let current = closed;

/** Looks like the connection of the response that finishes, and at other times like a closed one. */
const shared = new Proxy(closed, {
  get: (_closed, name): unknown => Reflect.get(current, name, current),
  set: (_closed, name, value) => Reflect.set(current, name, value, current),
});

/**
 * Emits `finish` for a client that has left, while `req.socket` is one object for all requests. Servers that count the
 * requests of each connection (stoppable) note a lower count when a response finishes. They have removed a connection
 * from their list when it closed, and nothing would remove it again.
 * @param emit emits the event.
 */
export function finishOnSharedSocket(req: IncomingMessage, emit: () => void): void {
  // `pipeline` sets the socket of a request that fails to null.
  const socket = req.socket as Socket | null;
  if (!socket) {
    emit();
    return;
  }
  const outer = current;
  current = socket;
  req.socket = shared;
  try {
    emit();
  } finally {
    req.socket = socket;
    current = outer;
  }
}
