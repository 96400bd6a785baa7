import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, ClientGone } from './errors';

/**
 * The chunks of a body as they arrive. The last byte is shown and left in the stream: node emits `end` a tick after a stream
 * that has ended is empty, and then nothing can be put back ({@link putBack}).
 * @throws ClientGone when the client hangs up before the body is complete.
 */
export async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  // What has come in one packet with the head is parsed before this tick is over. On a stream that has ended without a byte,
  // even a listener for 'readable' brings `end` about.
  await new Promise<void>(resolve => { process.nextTick(resolve); });
  for (;;) {
    if (req.destroyed) throw new ClientGone();
    const chunk = req.readableLength > 0 ? req.read() as Buffer | null : null;
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

/** The rest of a refused body is read and thrown away, or the client, which is still sending, could not read the answer. */
export function refuseRest(req: IncomingMessage, limit: number): Error {
  req.resume();
  return bodyTooLarge(limit);
}
