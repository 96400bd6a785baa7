import type { IncomingMessage, ServerResponse } from 'node:http';
import { closeSoon } from './closing';
import { cameOverSocket } from './connection';

/** Milliseconds between two checks of a connection on which the rest of a body arrives that no one reads. */
const CHECK_INTERVAL = 5_000;
/** Checks after which the client has had 30 seconds, as much as web servers usually allow. */
const MOST_CHECKS = 6;

/** Requests whose rest is read. (Their listener may be hidden in another: OpenTelemetry binds each to its context.) */
const drained = new WeakSet<IncomingMessage>();

/**
 * Reads the rest of a refused body and discards it: a client that is still sending would not read the response
 * otherwise. Once the response has been sent, a client that sends nothing for 5 seconds, or is not done after 30, loses
 * its connection.
 */
export function drainRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.destroyed || req.readableEnded) return;
  drained.add(req);
  // With a 'data' listener, the stream flows even if a 'readable' listener of `chunksOf` is still to be removed.
  req.on('data', () => undefined).resume();
  if (res.writableFinished) watch(req, MOST_CHECKS);
  else
    beforeClosing(req, res, () => {
      closeInStages(req);
      watch(req, MOST_CHECKS);
    });
}

/**
 * Lets a client read a response that is sent before the body of its request has arrived, and after which node would
 * close the connection. As on a connection that is kept, node discards the rest of the body and `server.requestTimeout`
 * limits it; a client that sends nothing for 5 seconds loses its connection.
 */
export function closeAfterBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete || !cameOverSocket(req) || drained.has(req)) return;
  beforeClosing(req, res, () => {
    closeInStages(req, () => {
      watch(req, Infinity);
    });
  });
}

/** Calls `then` when the response has been sent and the body has not arrived. */
function beforeClosing(req: IncomingMessage, res: ServerResponse, then: () => void): void {
  // Before node's own listener, which closes a connection that is not kept alive.
  res.prependOnceListener('finish', () => {
    if (!req.complete) then();
  });
}

/**
 * Ends only our side of a connection that node would close after the response: the system answers bytes that arrive
 * later with a reset, for which the client may lose a response that it has not read yet (RFC 9112, section 9.6).
 * @param onClosing called when node would close it.
 */
function closeInStages(req: IncomingMessage, onClosing?: () => void): void {
  const { socket } = req;
  // A response that is held back has replaced it, too (delayed-close.ts).
  const earlier = Object.getOwnPropertyDescriptor(socket, 'destroySoon');
  socket.destroySoon = () => {
    socket.end();
    onClosing?.();
  };
  req.once('close', () => {
    if (earlier) Object.defineProperty(socket, 'destroySoon', earlier);
    else Reflect.deleteProperty(socket, 'destroySoon');
    if (socket.writableEnded) closeSoon(socket);
  });
}

function watch(req: IncomingMessage, mostChecks: number): void {
  if (req.complete) return;
  const { socket } = req;
  let seen = socket.bytesRead;
  let checks = 0;
  const timer = setInterval(() => {
    if (socket.bytesRead === seen || ++checks === mostChecks) socket.destroy();
    seen = socket.bytesRead;
  }, CHECK_INTERVAL).unref();
  req.once('close', () => {
    clearInterval(timer);
  });
}
