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
