import type { IncomingMessage } from 'node:http';
import { ClientGone } from '../http/client-gone';
import { readElsewhere } from './errors';

/**
 * Yields the chunks of a body as they arrive. The last byte is yielded and left in the stream: a tick after a stream
 * that has ended is empty, node emits `end`, and then nothing can be put back.
 * @throws ClientGone when the client disconnects before the body is complete; Error when another reader takes bytes.
 */
export async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer, void> {
  // Bytes that came in one packet with the head are parsed before this tick is over. That is awaited first, since even
  // a 'readable' listener makes a stream that has ended without a byte emit `end`.
  await new Promise<void>(resolve => {
    process.nextTick(resolve);
  });
  for (;;) {
    if (req.readableEnded && !req.readableDidRead) return;
    if (isReadElsewhere(req) || req.readableEnded) throw readElsewhere();
    if (req.destroyed) throw new ClientGone();
    const chunk = req.readableLength > 0 ? (req.read() as Buffer | null) : null;
    // Up to node 24, `read()` takes everything that is buffered; from 26 on, one chunk.
    const isLast = req.complete && req.readableLength === 0;
    if (chunk !== null) {
      if (isLast) req.unshift(chunk.subarray(-1));
      yield chunk;
    }
    if (isLast) return;
    if (chunk === null) await moreOf(req);
  }
}

/** Waits for more bytes or the end. Every request ends with `close`; node emits `error` only if it has a listener. */
function moreOf(req: IncomingMessage): Promise<void> {
  return new Promise(resolve => {
    const goOn = (): void => {
      req.off('readable', goOn).off('close', goOn);
      resolve();
    };
    req.on('readable', goOn).on('close', goOn);
  });
}

/** True when another reader has the stream: it flows, or is about to, to listeners of other code. */
export function isReadElsewhere(req: IncomingMessage): boolean {
  return req.readableFlowing === true || req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/** Resolves when the other reader of a flowing stream has reached its end, or stopped. */
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
