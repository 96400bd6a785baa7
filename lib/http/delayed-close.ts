import type { Socket } from 'node:net';
import { WAYS_TO_CLOSE } from './closing';

type Close = (...args: unknown[]) => unknown;

/** Shared by the replaced methods of one connection. */
interface Delay {
  /** Called instead of closing; undefined while nothing is delayed. */
  onClose: (() => void) | undefined;
  /** Called after one of the methods. */
  readonly closing: Set<() => void>;
}

const delays = new WeakMap<Socket, Delay>();

/** All replacements: other code may put an earlier one back. */
const replacements = new WeakSet<Close>();

/**
 * Delays the closing of a connection by any code of this process.
 * @param onClose called instead of closing.
 * @returns a function that ends the delay; it closes nothing.
 */
export function delayClose(socket: Socket, onClose: () => void): () => void {
  const delay = delayOf(socket);
  delay.onClose = onClose;
  return () => {
    // The next response on this connection may have delayed it since.
    if (delay.onClose === onClose) delay.onClose = undefined;
  };
}

/**
 * Calls `listener` after each step by which this process closes a connection, node's own included: when a client has
 * disconnected, node closes its side, and emits `close` some turns of the event loop later.
 * @returns a function that ends the calls.
 */
export function onClosing(socket: Socket, listener: () => void): () => void {
  const { closing } = delayOf(socket);
  closing.add(listener);
  return () => {
    closing.delete(listener);
  };
}

function delayOf(socket: Socket): Delay {
  const delay = delays.get(socket) ?? { onClose: undefined, closing: new Set() };
  delays.set(socket, delay);
  replaceMethods(socket, delay);
  return delay;
}

/**
 * Replaces the methods for as long as the connection lasts, and again when other code has replaced them. To delete them
 * after each response would turn the socket into an object whose properties V8 looks up by hashing, and node would take
 * longer for every later request on it.
 */
function replaceMethods(socket: Socket, delay: Delay): void {
  for (const way of WAYS_TO_CLOSE) {
    // A server accepts any Duplex as a connection, which has no `destroySoon`.
    const close = Reflect.get(socket, way) as Close | undefined;
    if (!close || replacements.has(close)) continue;
    const replacement: Close = (...args) => {
      if (delay.onClose) {
        delay.onClose();
        return socket;
      }
      const returned = Reflect.apply(close, socket, args);
      for (const listener of delay.closing) listener();
      return returned;
    };
    replacements.add(replacement);
    Reflect.set(socket, way, replacement);
  }
}
