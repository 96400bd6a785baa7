import type { IncomingMessage } from 'node:http';
import type { Spool } from './spool';

/** Replaces the last byte, which was left in the stream, by the complete body, for the parsers that follow. */
export function putBack(req: IncomingMessage, chunks: readonly Buffer[]): void {
  if (chunks.length === 0) return;
  req.read();
  for (const chunk of chunks.toReversed()) req.unshift(chunk);
}

/**
 * Puts a complete body back from a file, piece by piece as it is read. Node emits `end` if the stream is empty a tick
 * after a read, so the next piece is put in before the read that empties the stream returns.
 */
export function putBackFile(req: IncomingMessage, spool: Spool): void {
  let position = 0;
  const refill = (): void => {
    // A flowing stream passes a piece on at once and is empty again.
    while (req.readableLength === 0) {
      const piece = pieceAt(position);
      if (piece.length === 0) return;
      position += piece.length;
      req.unshift(piece);
    }
  };
  const pieceAt = (at: number): Buffer => {
    try {
      return spool.read(at);
    } catch (error) {
      req.destroy(error as Error);
      return Buffer.alloc(0);
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
