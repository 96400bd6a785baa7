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

/** Closes a connection when all has been written. Only sockets have `destroySoon`; a server accepts any Duplex. */
export function closeSoon(socket: Partial<Pick<Socket, 'destroySoon'>> & Pick<Socket, 'end'>): void {
  if (socket.destroySoon) socket.destroySoon();
  else socket.end();
}
