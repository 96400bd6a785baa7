import type { IncomingMessage } from 'node:http';
import { steps } from '../../basics/steps';
import { ClientGone } from '../../http/client-gone';
import { decodedBefore, readElsewhere } from '../content/errors';
import { stateOf } from './stream-state';

/**
 * Yields the chunks of a body as they arrive. The last byte is yielded and left in the stream: a tick after a stream
 * that has ended is empty, node emits `end`, and then nothing can be put back.
 * @throws ClientGone when the client disconnects before the body is complete; Error when another reader takes bytes, or
 * has let node decode them.
 */
export async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  // Even a 'readable' listener makes a stream that has ended without a byte emit `end`.
  await packetParsed();
  for (;;) {
    if (req.readableEnded && !req.readableDidRead) return;
    if (isReadElsewhere(req) || req.readableEnded) throw readElsewhere();
    if (req.destroyed) throw new ClientGone();
    if (req.readableLength > 0 && req.readableEncoding !== null) throw decodedBefore();
    const chunk = req.readableLength > 0 ? (req.read() as Buffer | null) : null;
    // Up to node 24, `read()` takes everything that is buffered; from 26 on, one chunk.
    // `req.complete` would not do: adapters of serverless platforms set it before the body is there, or never.
    const isLast = stateOf(req).ended && req.readableLength === 0;
    if (chunk !== null) {
      if (isLast) req.unshift(chunk.subarray(-1));
      yield chunk;
    }
    if (isLast) return;
    if (chunk === null) await moreOf(req);
  }
}

/** Waits until node has parsed the bytes of the body that came in one packet with the head: before the tick is over. */
export function packetParsed(): Promise<void> {
  return new Promise(resolve => {
    steps.nextTick(resolve);
  });
}

/**
 * Returns a body that has arrived, and leaves it in the stream. (The chunks of a short body take 10 µs more.)
 * @param most bytes.
 * @returns undefined if it is empty or longer, more of it is to come, or it is not ours to read.
 */
export function arrivedBody(req: IncomingMessage, most: number): Buffer | undefined {
  const { readableLength } = req;
  if (readableLength === 0 || readableLength > most) return undefined;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  // Node considers a request complete a little later than its last byte arrives.
  const hasArrived = stateOf(req).ended || (coding === undefined && readableLength === Number(length));
  // One that an earlier middleware has paused flows again only with the listeners of `chunksOf`.
  const isOurs = !req.readableDidRead && req.readableFlowing !== false && !isReadElsewhere(req);
  if (!hasArrived || !isOurs || req.readableEncoding !== null || req.destroyed) return undefined;
  const chunks: Buffer[] = [];
  while (req.readableLength > 0) chunks.push(req.read() as Buffer);
  const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  req.unshift(bytes);
  completed(req);
  return bytes;
}

/**
 * Says for node that a request has arrived as a whole. Node says so when what it does with the last bytes is over, the
 * handler's run included; if a write to the connection fails before that, it never does.
 */
function completed(req: IncomingMessage): void {
  req.complete = true;
  // A second time, it has no effect.
  req.push(null);
}

/** Waits for more bytes or the end. Every request ends with `close`; node emits `error` only if it has a listener. */
function moreOf(req: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const goOn = (): void => {
      // Not by `off`: behind cls-hooked (emitter-listener), that has no effect while the event is emitted.
      req.removeListener('readable', goOn).removeListener('close', goOn);
      resolve();
    };
    req.on('readable', goOn).on('close', goOn);
  });
}

/** Returns true if another reader has the stream: it flows, or is about to, to listeners of other code. */
export function isReadElsewhere(req: IncomingMessage): boolean {
  return req.readableFlowing === true || req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/** Events after which another reader may be done. A reader may pause many times, while it writes what it has read. */
const READER_EVENTS = ['end', 'close', 'pause', 'removeListener'];
/** Milliseconds between two looks at a reader. */
const LOOK_INTERVAL = 250;
/** Looks in a row at which bytes wait in the stream, or its end does, and the reader has taken none. */
const MOST_IDLE_LOOKS = 8;

/**
 * Waits for the other reader of a stream.
 * @returns false when it has stopped before the end, without removing its listeners.
 */
export async function otherReader(req: IncomingMessage): Promise<boolean> {
  let idleLooks = 0;
  let waiting = 0;
  while (isReadElsewhere(req) && !req.readableEnded && !req.destroyed) {
    const hasLooked = await readerEvent(req);
    if (!hasLooked) continue;
    // With the last bytes taken, the end waits to be read.
    const isItsTurn = req.readableLength > 0 || stateOf(req).ended;
    idleLooks = isItsTurn && req.readableLength === waiting ? idleLooks + 1 : 0;
    if (idleLooks === MOST_IDLE_LOOKS) return false;
    waiting = req.readableLength;
  }
  return true;
}

/** Waits for an event of the reader. @returns true when there was none, and it is time to look. */
function readerEvent(req: IncomingMessage): Promise<boolean> {
  return new Promise(resolve => {
    let isOver = false;
    const settle = (hasLooked: boolean): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      for (const event of READER_EVENTS) req.removeListener(event, goOn);
      resolve(hasLooked);
    };
    const goOn = (): void => {
      settle(false);
    };
    const timer = setTimeout(settle, LOOK_INTERVAL, true).unref();
    for (const event of READER_EVENTS) req.on(event, goOn);
  });
}
