import type { Socket } from 'node:net';

/** Closes a connection so that what was sent does not look whole. Only TCP connections can be reset. */
export function reset(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Node refuses it for TLS and for Unix sockets.
    socket.destroy();
  }
}
