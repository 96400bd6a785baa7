import type { Socket } from 'node:net';

/** Closes a connection when all has been written. Only sockets have `destroySoon`; a server accepts any Duplex. */
export function closeSoon(socket: Partial<Pick<Socket, 'destroySoon'>> & Pick<Socket, 'end'>): void {
  if (socket.destroySoon) socket.destroySoon();
  else socket.end();
}
