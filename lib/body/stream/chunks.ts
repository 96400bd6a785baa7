import type { IncomingMessage } from 'node:http';
import { ClientGone } from '../../http/exchange-end';
import { bodyTooLarge } from '../content/decode';

/** Makes the error for a body that is gone: it must not be taken for an empty one. */
export const readElsewhere = (): Error =>
  new Error(
    'bindonce: the request body was read before this middleware, and neither req.body nor req.rawBody tells what was ' +
      'in it. (An empty object in req.body may stand for another body.) Mount it before the middleware that reads ' +
      'the body, or set req.rawBody to the bytes.',
  );

/**
 * Returns true if another reader has the stream: it flows, or is about to, to listeners of other code, or node decodes
 * what is read.
 */
export function isReadElsewhere(req: IncomingMessage): boolean {
  if (req.readableEncoding) return true;
  return req.readableFlowing === true || req.listenerCount('data') > 0 || req.listenerCount('readable') > 0;
}

/** Returns the bytes of a body as the client declares them; undefined if only its end tells (RFC 9112, section 6.3). */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length'];
  return headers['transfer-encoding'] === undefined && length !== undefined ? Number(length) : undefined;
}

/**
 * Yields the chunks of a body as they arrive. The last byte is yielded, and stays in the stream: a stream that has
 * ended and is empty emits `end` in the next tick, and then nothing can be put back.
 * @param limit bytes.
 * @throws a 413 problem at the first byte over the limit, or at once where the client declares more; ClientGone when
 * the client disconnects before the body is complete; Error when another reader takes bytes.
 */
export async function* chunksOf(req: IncomingMessage, limit: number): AsyncGenerator<Buffer, void> {
  // Adapters of serverless platforms set `req.complete` before the body is there, or never.
  const declared = declaredLength(req);
  if ((declared ?? 0) > limit) throw bodyTooLarge(limit);
  let size = 0;
  let last: Buffer | undefined;
  for (;;) {
    if (isReadElsewhere(req)) throw readElsewhere();
    if (req.readableEnded) {
      if (size === 0 && !req.readableDidRead) return;
      throw readElsewhere();
    }
    if (req.destroyed) throw new ClientGone();
    const chunk = req.read() as Buffer | null;
    size += chunk?.length ?? 0;
    if (size > limit) throw bodyTooLarge(limit);
    last = chunk?.subarray(-1) ?? last;
    const isLast = declared === undefined ? req.complete && req.readableLength === 0 : size >= declared;
    if (isLast && last) req.unshift(last);
    if (chunk) yield chunk;
    if (isLast) return;
    if (!chunk) await moreOf(req);
  }
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
