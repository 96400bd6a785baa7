import type { Socket } from 'node:net';

const listeners = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls `listener` when the connection closes. A connection gets one listener, however many requests are pipelined on
 * it.
 * @returns a function that cancels the call.
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
