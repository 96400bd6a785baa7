import type { IncomingMessage, ServerResponse } from 'node:http';

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
  const watch = (): void => {
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
    });
  };
  if (res.writableFinished) watch();
  else res.once('finish', watch);
}

const discard = (): void => undefined;
