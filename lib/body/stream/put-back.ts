import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { isReadElsewhere } from './chunks';
import type { Spool } from '../spool/spool';

/** Bytes that are read from a file at once. */
const PIECE = 65_536;

/** Replaces the last byte, which was left in the stream, by the complete body, for the readers that follow. */
export function putBack(req: IncomingMessage, bytes: Buffer): void {
  req.read();
  req.unshift(bytes);
}

/** Lets go of what waits in a stream. */
export interface Unread {
  /** Calls `then` when nobody reads the body any more; discards what nobody has begun to read. */
  readonly end: (then: () => void) => void;
}

/**
 * Puts a complete body back from a file: as it is read, the bytes that are wanted go in front of the last one, which is
 * still in the stream and keeps it from ending.
 */
export function putBackFile(req: IncomingMessage, spool: Spool): Unread {
  const readFromStream = Reflect.get(req, 'read') as (size?: number) => unknown;
  const read = (size?: number): unknown => readFromStream.call(req, size);
  let position = 0;
  req.read = (size?: number): unknown => {
    const left = spool.size - 1 - position;
    if (size === 0 || left <= 0) return read(size);
    let piece: Buffer;
    try {
      piece = spool.read(position, Math.min(size ?? PIECE, left));
    } catch (error) {
      req.destroy(error as Error);
      return null;
    }
    position += piece.length;
    req.unshift(piece);
    // A reader may wait for this event after each piece; node emits it for what comes from the connection only.
    if (req.listenerCount('readable') > 0) setImmediate(() => req.emit('readable'));
    return read(Math.min(size ?? piece.length, req.readableLength));
  };
  req.setEncoding = () => {
    throw new Error(
      'bindonce: req.setEncoding() cannot be used for a body of more than 1 MiB, which comes back from a file. ' +
        'Decode it by new TextDecoderStream(), or read it by express.text().',
    );
  };
  return {
    end(then) {
      if (isReadElsewhere(req) && !req.readableEnded) {
        finished(req, { writable: false }, then);
        return;
      }
      position = spool.size;
      req.resume();
      then();
    },
  };
}
