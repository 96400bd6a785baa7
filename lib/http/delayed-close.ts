import type { Socket } from 'node:net';

const WAYS_TO_CLOSE = ['destroy', 'destroySoon', 'end'] as const;

type Close = (...args: unknown[]) => unknown;

/** What is to be called instead of closing, by connection. */
const delayed = new WeakMap<Socket, () => void>();
/** The functions that look there. */
const ours = new WeakSet<Close>();

/**
 * Delays the closing of a connection by any code of this process.
 * @param onClose called instead of closing.
 * @returns a function that ends the delay; it closes nothing.
 */
export function delayClose(socket: Socket, onClose: () => void): () => void {
  prepare(socket);
  delayed.set(socket, onClose);
  return () => {
    delayed.delete(socket);
  };
}

/**
 * Replaces the methods for as long as the connection lasts. To delete them after each response would turn the socket
 * into an object whose properties V8 looks up by hashing, and node would take longer for every later request on it.
 */
function prepare(socket: Socket): void {
  for (const way of WAYS_TO_CLOSE) {
    // A server accepts any Duplex as a connection, which has no `destroySoon`.
    const close = Reflect.get(socket, way) as Close | undefined;
    if (!close || ours.has(close)) continue;
    const replacement: Close = (...args) => {
      const onClose = delayed.get(socket);
      if (!onClose) return Reflect.apply(close, socket, args);
      onClose();
      return socket;
    };
    ours.add(replacement);
    Reflect.set(socket, way, replacement);
  }
}
