import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, ClientGone } from './errors';

/** What the first read of a body came to: all of it, or its beginning where it is longer than the limit. */
export type FirstRead = { readonly complete: true; readonly bytes: Buffer } | { readonly complete: false; readonly head: readonly Buffer[] };

/**
 * Reads up to `limit` bytes and stops there.
 *
 * The stream is read with `readable`/`read()` and never past its last byte: as long as nobody calls `read()` on the
 * drained stream, node does not emit `end`, and the bytes can be put back for whoever comes next.
 */
export function readUpTo(req: IncomingMessage, limit: number): Promise<FirstRead> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (then: () => void): void => {
      req.removeListener('readable', onReadable).removeListener('close', onClose);
      then();
    };
    const onReadable = (): void => {
      while (req.readableLength > 0) {
        const chunk = req.read() as Buffer | null;
        if (chunk === null) break;
        chunks.push(chunk);
        size += chunk.length;
        if (size > limit) return settle(() => { resolve({ complete: false, head: chunks }); });
      }
      if (req.complete) settle(() => { resolve({ complete: true, bytes: Buffer.concat(chunks) }); });
    };
    const onClose = (): void => { settle(() => { reject(new ClientGone()); }); };
    req.on('readable', onReadable).on('close', onClose);
    if (req.complete) onReadable();
    else if (req.destroyed) onClose();
  });
}

/** Reads the whole body and puts it back: what comes after reads it as if nobody had been there. */
export async function readAndPutBack(req: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw refuseRest(req, limit);
  const read = await readUpTo(req, limit);
  if (!read.complete) throw refuseRest(req, limit);
  if (read.bytes.length > 0) req.unshift(read.bytes);
  return read.bytes;
}

/** The rest of a refused body is read and thrown away, or the client could not read the answer (it is still sending). */
export function refuseRest(req: IncomingMessage, limit: number): Error {
  req.resume();
  return bodyTooLarge(limit);
}
