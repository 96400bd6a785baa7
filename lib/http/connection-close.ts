import type { Socket } from 'node:net';

const listeners = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `listener` when the connection closes. However many requests are pipelined on a connection, it has one listener.
 * @returns what takes it back.
 */
export function onConnectionClose(socket: Socket, listener: () => void): () => void {
  const waiting = listeners.get(socket) ?? listen(socket);
  waiting.add(listener);
  return () => {
    waiting.delete(listener);
  };
}

function listen(socket: Socket): Set<() => void> {
  const waiting = new Set<() => void>();
  listeners.set(socket, waiting);
  socket.once('close', () => {
    for (const listener of [...waiting]) listener();
  });
  return waiting;
}
