import { closeSync, openSync, readSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';

/** Bytes that are read from a file at a time. */
const PIECE = 65_536;

/** Puts a complete body back, in place of its last byte: what comes after reads it as if nobody had been there. */
export function putBack(req: IncomingMessage, bytes: Buffer): void {
  if (bytes.length === 0) return;
  req.read();
  req.unshift(bytes);
}

/**
 * Puts a complete body back out of a file, piece by piece as it is read. Node emits `end` when the stream is empty a tick
 * after a read; so the next piece is there before the read that empties it returns. (Reading synchronously is reading from
 * the system's cache here: the file has just been written.)
 * @returns what closes the file early.
 */
export function putBackFile(req: IncomingMessage, path: string): () => void {
  const file = openSync(path, 'r');
  let open = true;
  const close = (): void => {
    if (open) closeSync(file);
    open = false;
  };
  const refill = (): void => {
    // A flowing stream passes on at once what is put into it, and is as empty as before.
    while (open && req.readableLength === 0) {
      const piece = Buffer.allocUnsafe(PIECE);
      const length = readSync(file, piece);
      if (length === 0) close();
      else req.unshift(piece.subarray(0, length));
    }
  };
  const read = req.read.bind(req);
  req.read = (size?: number) => {
    const chunk: unknown = read(size);
    refill();
    return chunk;
  };
  read();
  refill();
  return close;
}
