import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Awaitable } from '../../basics/awaitable';
import type { Spool } from '../spool/spool';

/**
 * The body of one request.
 * - `none`: the request has no body.
 * - `bytes`, `file`: the whole body, in memory or on disk; `coding` is the content coding that is still to be undone.
 * - `parsed`: an earlier parser has used up the stream; this is what it left.
 */
export type Received =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly coding: string | undefined }
  | { readonly kind: 'file'; readonly spool: Spool; readonly coding: string | undefined }
  | { readonly kind: 'parsed'; readonly body: unknown; readonly files: readonly Express.Multer.File[] };

/** A body whose bytes are known. */
export type ReceivedBytes = Extract<Received, { kind: 'bytes' | 'file' }>;

/** Returns all the bytes of a received body. */
export function allBytes(received: ReceivedBytes): Awaitable<Buffer> {
  return received.kind === 'file' ? buffer(received.spool.chunks()) : received.bytes;
}

/** Yields the bytes of a received body, piece by piece. */
export async function* openReceived(received: ReceivedBytes): AsyncGenerator<Buffer, void> {
  if (received.kind === 'file') yield* received.spool.chunks();
  else yield received.bytes;
}

/** Returns the bytes that count towards a limit: none for what an earlier parser left, which has a limit of its own. */
export function sizeOf(received: Received): number {
  switch (received.kind) {
    case 'bytes':
      return received.bytes.length;
    case 'file':
      return received.spool.size;
    case 'none':
    case 'parsed':
      return 0;
  }
}

/** Bytes that are read from a file at once. */
const PIECE = 65_536;

/** Puts a body back for the readers that follow. The stream still holds the last byte, which keeps it from ending. */
export function putBack(req: IncomingMessage, received: ReceivedBytes): void {
  if (received.kind === 'file') {
    putBackFile(req, received.spool);
  } else {
    req.read();
    req.unshift(received.bytes);
  }
}

/** Puts a body back from a file: as it is read, the bytes that are wanted go in front of the last one. */
function putBackFile(req: IncomingMessage, spool: Spool): void {
  const readFromStream = Reflect.get(req, 'read') as (size?: number) => unknown;
  const read = (size?: number): unknown => readFromStream.call(req, size);
  let position = 0;
  req.read = (size?: number): unknown => {
    const left = spool.size - 1 - position;
    if (size === 0 || left <= 0) return read(size);
    try {
      const piece = spool.read(position, Math.min(size ?? PIECE, left));
      position += piece.length;
      req.unshift(piece);
    } catch (error) {
      req.destroy(error as Error);
      return null;
    }
    // A reader may wait for this event after each piece; node emits it for what comes from the connection only.
    if (req.listenerCount('readable') > 0) setImmediate(() => req.emit('readable'));
    return read(Math.min(size ?? PIECE, req.readableLength));
  };
  req.setEncoding = () => {
    throw new Error(
      'bindonce: req.setEncoding() cannot be used for a body of more than 1 MiB, which comes back from a file. ' +
        'Decode it by new TextDecoderStream(), or read it by express.text().',
    );
  };
}

/** Discards a body that nobody has begun to read, as node does: only then do requests emit `end` and `close`. */
export function discard(req: IncomingMessage): void {
  Reflect.deleteProperty(req, 'read');
  req.resume();
}
