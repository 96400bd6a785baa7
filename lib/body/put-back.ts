import type { IncomingMessage } from 'node:http';
import type { Spool } from './spool';

/** Puts a complete body back, instead of its last byte: what comes after reads it as if nobody had been there. */
export function putBack(req: IncomingMessage, bytes: Buffer): void {
  if (bytes.length === 0) return;
  req.read();
  req.unshift(bytes);
}

/**
 * Puts a complete body back out of a file, piece by piece as it is read. Node emits `end` when the stream is empty a tick
 * after a read; so the next piece is there before the read that empties it returns.
 */
export function putBackFile(req: IncomingMessage, spool: Spool): void {
  let position = 0;
  const refill = (): void => {
    // A flowing stream passes on at once what is put into it, and is as empty as before.
    while (req.readableLength === 0) {
      const piece = spool.read(position);
      if (piece.length === 0) return;
      position += piece.length;
      req.unshift(piece);
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
}
