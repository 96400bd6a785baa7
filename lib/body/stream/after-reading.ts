import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { isReadElsewhere } from './body-chunks';

/** Milliseconds in which a reader that is half-way has to read something. */
const PATIENCE = 30_000;

/**
 * Calls `then` when no one reads a body any more, to be asked when its exchange is over: at once, or when the reader
 * whose listeners the stream has comes to the end. A handler may respond early and go on reading in the background; it
 * must not take a part of the body for the whole, so the stream of a reader that stops for 30 seconds fails.
 * @param unread returns how much of the body is still to be read.
 */
export function afterReading(req: IncomingMessage, unread: () => number, then: () => void): void {
  failAlone(req);
  if (req.readableEnded || req.destroyed || !isReadElsewhere(req)) {
    then();
    return;
  }
  let last = unread();
  const timer = setInterval(() => {
    if (unread() === last) req.destroy(tooSlow());
    last = unread();
  }, PATIENCE).unref();
  finished(req, { writable: false }, () => {
    clearInterval(timer);
    then();
  });
}

/** Lets the stream fail without closing the connection, on which the next request may have come. */
function failAlone(req: IncomingMessage): void {
  req._destroy = (error, done) => {
    // As node does it.
    done(req.listenerCount('error') > 0 ? error : null);
  };
}

const tooSlow = (): Error =>
  new Error(
    `bindonce: the response to this request was sent, and for ${PATIENCE / 1_000} seconds nothing was read from its ` +
      'body, which is no longer kept. Read the whole body before you respond, or without such pauses.',
  );
