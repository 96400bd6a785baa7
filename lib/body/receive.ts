import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, type Awaitable } from '../basics/awaitable';
import { isReadElsewhere } from './stream/body-chunks';
import { bodyTooLarge } from './content/errors';
import type { Form } from './form/form';
import { leftBehind, leftByOtherReader } from './left-behind';
import { hasBody, markUsedUp } from './content/media-type';
import { readWhole } from './stream/read-whole';
import { sizeOf, type Received } from './stream/received';

/** Shared by every copy of this module in the process: the second middleware must find what the first one has read. */
const RECEIVED = Symbol.for('bindonce.received');

interface WithReceived {
  [RECEIVED]?: Awaitable<Received>;
}

/**
 * Returns the body of a request. The first call reads it. If an earlier parser has read it, returns what that has left,
 * without a promise where nothing must be awaited.
 * @param limit bytes; a longer body is refused with 413.
 */
export function receive(req: IncomingMessage, res: ServerResponse, limit: number): Awaitable<Received> {
  const within = (received: Received): Received => {
    if (sizeOf(received) > limit) throw bodyTooLarge(limit);
    return received;
  };
  const known = (req as WithReceived)[RECEIVED];
  if (known) return after(known, within);
  // The second case: an earlier parser has already read an empty body to its end.
  if (!hasBody(req) || (req.readableEnded && !req.readableDidRead)) return { kind: 'none' };
  // A reader that is still at work may have set `req.rawBody`, or `req.body`, to what it has read so far.
  const left = !req.readableEnded && isReadElsewhere(req) ? undefined : leftBehind(req);
  if (left) return within(left);
  if (req.readableDidRead || isReadElsewhere(req)) return leftByOtherReader(req, res).then(within);
  const reading = readWhole(req, res, limit);
  (req as WithReceived)[RECEIVED] = reading;
  return reading.then(received => within(((req as WithReceived)[RECEIVED] = received)));
}

/** Returns true if the body can still be streamed: neither bindonce nor another reader has touched it. */
export function isUntouched(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded && !(RECEIVED in req) && !isReadElsewhere(req);
}

/**
 * Records that a form was read from the stream of a request, which still holds the last byte. The request no longer has
 * a body, and must not announce one: a proxy behind this middleware would announce bytes that never come.
 */
export function receivedAsForm(req: IncomingMessage, { files }: Form, body: unknown): void {
  req.read();
  markUsedUp(req);
  (req as WithReceived)[RECEIVED] = { kind: 'parsed', body, files };
}
