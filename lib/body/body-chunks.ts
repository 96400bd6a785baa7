import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGone, readElsewhere } from './errors';

/**
 * The chunks of a body as they arrive. The last byte is shown and left in the stream: node emits `end` a tick after a stream
 * that has ended is empty, and then nothing can be put back.
 * @throws ClientGone when the client disconnects before the body is complete; Error when another reader takes bytes of it.
 */
export async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  // What has come in one packet with the head is parsed before this tick is over. On a stream that has ended without a byte,
  // even a listener for 'readable' brings `end` about.
  await new Promise<void>(resolve => {
    process.nextTick(resolve);
  });
  for (;;) {
    if (req.readableEnded && !req.readableDidRead) return;
    if (isReadElsewhere(req) || req.readableEnded) throw readElsewhere();
    if (req.destroyed) throw new ClientGone();
    const chunk = req.readableLength > 0 ? (req.read() as Buffer | null) : null;
    // Up to node 24, `read()` takes all that is there; from 26 on, one chunk.
    const isLast = req.complete && req.readableLength === 0;
    if (chunk !== null) {
      if (isLast) req.unshift(chunk.subarray(-1));
      yield chunk;
    }
    if (isLast) return;
    if (chunk === null) await moreOf(req);
  }
}

/** Every request ends with `close`, whatever befalls it; node emits an `error` only where somebody listens for one. */
function moreOf(req: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const goOn = (): void => {
      req.off('readable', goOn).off('close', goOn);
      resolve();
    };
    req.on('readable', goOn).on('close', goOn);
  });
}

/** True when another reader has the stream: it flows, or will, to listeners that are not ours. */
export function isReadElsewhere(req: IncomingMessage): boolean {
  return req.readableFlowing === true || req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/** Resolves when the other reader of a flowing stream has come to its end, or stopped. */
export async function otherReader(req: IncomingMessage): Promise<void> {
  while (req.readableFlowing === true && !req.readableEnded && !req.destroyed) {
    await new Promise<void>(resolve => {
      const goOn = (): void => {
        for (const event of ['end', 'pause', 'close']) req.off(event, goOn);
        resolve();
      };
      for (const event of ['end', 'pause', 'close']) req.on(event, goOn);
    });
  }
}

/** Milliseconds between two looks at a connection on which the rest of a refused body arrives. */
const LOOK = 5_000;
/** Looks after which the client has had its time: 30 seconds, as web servers have it. */
const MOST_LOOKS = 6;

/**
 * Reads the rest of a refused body and throws it away: a client that is still sending would not read the answer otherwise. A
 * client that, once it is answered, sends nothing for 5 seconds, or is not done after 30, loses its connection.
 */
export function drainRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.destroyed || req.readableEnded) return;
  // With a listener, the stream flows even if one of ours for 'readable' has still to go.
  req.on('data', discard).resume();
  const watch = (): void => {
    if (req.complete) return;
    const { socket } = req;
    let seen = socket.bytesRead;
    let looks = 0;
    const timer = setInterval(() => {
      if (socket.bytesRead === seen || ++looks === MOST_LOOKS) socket.destroy();
      seen = socket.bytesRead;
    }, LOOK).unref();
    req.once('close', () => {
      clearInterval(timer);
    });
  };
  if (res.writableFinished) watch();
  else res.once('finish', watch);
}

const discard = (): void => undefined;
