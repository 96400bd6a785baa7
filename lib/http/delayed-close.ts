import type { Socket } from 'node:net';

const WAYS_TO_CLOSE = ['destroy', 'destroySoon', 'end'] as const;

/** The connections whose methods were replaced. */
const prepared = new WeakSet<Socket>();
/** What is to be called instead of closing, by connection. */
const delayed = new WeakMap<Socket, () => void>();

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
 * Replaces the methods once for each connection. To delete them after each response would turn the socket into an
 * object whose properties V8 looks up by hashing, and node would take longer for every later request on it.
 */
function prepare(socket: Socket): void {
  if (prepared.has(socket)) return;
  prepared.add(socket);
  for (const way of WAYS_TO_CLOSE) {
    const close = Reflect.get(socket, way) as (...args: unknown[]) => unknown;
    socket[way] = (...args: unknown[]): never => {
      const onClose = delayed.get(socket);
      if (!onClose) return close.apply(socket, args) as never;
      onClose();
      return socket as never;
    };
  }
}
