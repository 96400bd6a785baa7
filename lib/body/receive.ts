import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, type Awaitable } from '../basics/awaitable';
import { onExchangeEnd } from '../http/exchange-end';
import { bodyTooLarge } from './content/decode';
import { hasBody } from './content/media-type';
import type { Form } from './form/form';
import { leftBehind } from './left-behind';
import { chunksOf, declaredLength, isReadElsewhere, readElsewhere } from './stream/chunks';
import { holdingOf } from './stream/holding';
import { BodyBytes, IN_MEMORY, type Received } from './stream/received';

/** Shared by every copy of this module in the process: the second middleware must find what the first one has read. */
const RECEIVED = Symbol.for('bindonce.received');

interface WithReceived {
  [RECEIVED]?: Awaitable<Received>;
}

/**
 * Returns the body of a request. The first call reads it, and puts it back into the stream for those who read it later.
 * If an earlier parser has read it, returns what that has left, without a promise.
 * @param limit bytes; a longer body is refused with 413.
 * @throws Problem with status 413, or 503 or 507 when memory or disk do not take the body; ClientGone; Error when an
 * earlier reader has left nothing of it.
 */
export function receive(req: IncomingMessage, res: ServerResponse, limit: number): Awaitable<Received> {
  const within = (received: Received): Received => {
    // What an earlier parser left had a limit of its own.
    if (received.kind === 'bytes' && received.bytes.size > limit) throw bodyTooLarge(limit);
    return received;
  };
  const known = (req as WithReceived)[RECEIVED];
  if (known) return after(known, within);
  // The second case: an earlier parser has already read an empty body to its end.
  if (!hasBody(req) || (req.readableEnded && !req.readableDidRead)) return { kind: 'none' };
  if (!isUntouched(req)) {
    // A reader that is still at work may have set `req.rawBody`, or `req.body`, to what it has read so far.
    const left = req.readableEnded || !isReadElsewhere(req) ? leftBehind(req) : undefined;
    if (left) return within(left);
    req.resume();
    throw readElsewhere();
  }
  const reading = readWhole(req, res, limit);
  (req as WithReceived)[RECEIVED] = reading;
  return reading.then(received => within(((req as WithReceived)[RECEIVED] = received)));
}

/** Returns true if the body can still be streamed: neither bindonce nor another reader has touched it. */
export function isUntouched(req: IncomingMessage): boolean {
  return !req.readableDidRead && !req.readableEnded && !isReadElsewhere(req);
}

/** Records that a form was read from the stream of a request, which still holds the last byte. */
export function receivedAsForm(req: IncomingMessage, { files }: Form, body: unknown): void {
  req.read();
  (req as WithReceived)[RECEIVED] = { kind: 'parsed', body, files };
}

/** Reads the whole body. Its memory, or its file, is released when the exchange is over. */
async function readWhole(req: IncomingMessage, res: ServerResponse, limit: number): Promise<Received> {
  const coding = req.headers['content-encoding'];
  const bytes = new BodyBytes((declaredLength(req) ?? 0) > IN_MEMORY);
  const holding = holdingOf(req, res);
  let isRead = false;
  onExchangeEnd(req, res, () => {
    // As node does with a body that nobody has begun to read: only then do requests emit `end` and `close`.
    if (isRead && !isReadElsewhere(req) && Reflect.deleteProperty(req, 'read')) req.resume();
    void bytes.close();
  });
  try {
    for await (const chunk of chunksOf(req, limit)) await bytes.add(chunk, holding);
    // A chunked body without a byte is no body, as one of length 0.
    if (bytes.size === 0) return { kind: 'none' };
    // The exchange may have ended during the last write.
    holding.take(0, 'disk');
    // An adapter of AWS Lambda (@codegenie/serverless-express) says that it is not as soon as a middleware waits.
    if (!req.readable) req.readable = true;
    bytes.putBack(req);
    isRead = true;
    return { kind: 'bytes', bytes, coding };
  } catch (error) {
    holding.giveBack();
    await bytes.close();
    req.resume();
    throw error;
  }
}
