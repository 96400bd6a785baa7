import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeSoon } from '../../http/closing';

/** Milliseconds between two checks of a connection on which the rest of a refused body arrives. */
const CHECK_INTERVAL = 5_000;
/** Checks after which the client has had 30 seconds, as much as web servers usually allow. */
const MOST_CHECKS = 6;

/**
 * Reads the rest of a refused body and discards it: a client that is still sending would not read the response
 * otherwise. Once the response has been sent, a client that sends nothing for 5 seconds, or is not done after 30, loses
 * its connection.
 */
export function drainRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.destroyed || req.readableEnded) return;
  // With a 'data' listener, the stream flows even if a 'readable' listener of `chunksOf` is still to be removed.
  req.on('data', discard).resume();
  if (res.writableFinished) watch(req);
  // Before node's own listener, which closes a connection that is not kept alive.
  else
    res.prependOnceListener('finish', () => {
      watch(req, req.complete ? undefined : closeInStages(req));
    });
}

const discard = (): void => undefined;

/**
 * Ends only our side of a connection that node would close after the response: the system answers bytes that arrive
 * later with a reset, for which the client may lose a response that it has not read yet (RFC 9112, section 9.6).
 * @returns a function that undoes this.
 */
function closeInStages({ socket }: IncomingMessage): () => void {
  // A response that is held back has replaced it, too (delayed-close.ts).
  const earlier = Object.getOwnPropertyDescriptor(socket, 'destroySoon');
  socket.destroySoon = () => {
    socket.end();
  };
  return () => {
    if (earlier) Object.defineProperty(socket, 'destroySoon', earlier);
    else Reflect.deleteProperty(socket, 'destroySoon');
  };
}

function watch(req: IncomingMessage, undo?: () => void): void {
  if (req.complete) return;
  const { socket } = req;
  let seen = socket.bytesRead;
  let checks = 0;
  const timer = setInterval(() => {
    if (socket.bytesRead === seen || ++checks === MOST_CHECKS) socket.destroy();
    seen = socket.bytesRead;
  }, CHECK_INTERVAL).unref();
  req.once('close', () => {
    clearInterval(timer);
    undo?.();
    if (socket.writableEnded) closeSoon(socket);
  });
}
