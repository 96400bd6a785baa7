import type { Socket } from 'node:net';

/** The methods by which code of this process closes a connection. */
export const WAYS_TO_CLOSE = ['destroy', 'destroySoon', 'resetAndDestroy', 'end'] as const;

/** Closes a connection when all has been written. Only sockets have `destroySoon`; a server accepts any Duplex. */
export function closeSoon(socket: Partial<Pick<Socket, 'destroySoon'>> & Pick<Socket, 'end'>): void {
  if (socket.destroySoon) socket.destroySoon();
  else socket.end();
}
