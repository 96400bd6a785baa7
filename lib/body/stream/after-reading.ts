import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { BodyRemoved } from '../spool/spool-file';
import { isReadElsewhere } from './body-chunks';
import type { Unread } from './put-back';
import { stateOf } from './stream-state';

/** Milliseconds in which a reader that is half-way has to read something. */
const PATIENCE = 30_000;

/**
 * Calls `then` when no one reads a body any more: at once, or if the stream has the listeners of a reader, when that
 * reader has come to the end. To be called when the exchange of the body is over. A handler may respond early and go on
 * reading in the background; it must not take a part of the body for the whole, so the stream of a reader that stops
 * for 30 seconds fails.
 * @param unread what is still to be read of the body.
 */
export function afterReading(req: IncomingMessage, unread: Unread, then: () => void): void {
  failAlone(req);
  if (req.readableEnded || req.destroyed || !isReadElsewhere(req)) {
    unread.skip();
    discardUnread(req);
    then();
    return;
  }
  let last = unread.size();
  const timer = setInterval(() => {
    if (unread.size() === last) req.destroy(tooSlow());
    last = unread.size();
  }, PATIENCE).unref();
  finished(req, { writable: false }, () => {
    clearInterval(timer);
    then();
  });
}

/**
 * Discards what no one has read of a body when its exchange is over, as node does with a body that was never read: only
 * then does a request emit `end` and `close`, for which middlewares wait that count or log requests.
 */
export function discardUnread(req: IncomingMessage): void {
  if (req.readableEnded || req.destroyed || isReadElsewhere(req)) return;
  // A reader that begins later must not take nothing for the whole body.
  req.once('close', () => {
    stateOf(req).errored ??= new BodyRemoved();
  });
  req.resume();
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
