import { IncomingMessage } from 'node:http';
import type { Spool } from '../spool/spool';
import { stateOf } from './stream-state';

/** Replaces the last byte, which was left in the stream, by the complete body, for the readers that follow. */
export function putBack(req: IncomingMessage, chunks: readonly Buffer[]): void {
  if (chunks.length === 0) return;
  req.read();
  for (const chunk of chunks.toReversed()) req.unshift(chunk);
  makeUnread(req);
}

/** Makes a request whose complete body waits in its stream look unread. */
export function makeUnread(req: IncomingMessage): void {
  hideReading(req);
  req.setEncoding = setEncodingOfAll;
}

function setEncodingOfAll(this: IncomingMessage, encoding: BufferEncoding): IncomingMessage {
  setEncodingOfPieces.call(this, encoding);
  refill(this, () => undefined);
  return this;
}

/**
 * Lets node decode what waits in the stream, but not the end of it: up to Node 22, node would never emit what is left
 * in its decoder, and from 24 on, it would cut off a character that continues in the next piece.
 */
function setEncodingOfPieces(this: IncomingMessage, encoding: BufferEncoding): IncomingMessage {
  const state = stateOf(this);
  const { ended } = state;
  state.ended = false;
  IncomingMessage.prototype.setEncoding.call(this, encoding);
  state.ended = ended;
  return this;
}

function hideReading(req: IncomingMessage): void {
  // `fetch` refuses a body that was read.
  stateOf(req).dataEmitted = false;
  // An adapter of AWS Lambda (@codegenie/serverless-express) says so as soon as the first asynchronous middleware
  // waits.
  if (!req.readable) req.readable = true;
}

/** What readers have not read of a body that was put back from a file. */
export interface Unread {
  /** Number of bytes. */
  readonly size: () => number;
  /** Lets the stream end after what waits in it. */
  readonly skip: () => void;
}

/** Puts a complete body back from a file, piece by piece as it is read. */
export function putBackFile(req: IncomingMessage, spool: Spool): Unread {
  let position = 0;
  const next = (): Buffer | undefined => {
    try {
      const piece = spool.read(position);
      position += piece.length;
      return piece.length > 0 ? piece : undefined;
    } catch (error) {
      req.destroy(error as Error);
      return undefined;
    }
  };
  req.read();
  refill(req, next);
  hideReading(req);
  req.setEncoding = setEncodingOfPieces;
  return {
    size: () => spool.size - position + req.readableLength,
    skip: () => {
      position = spool.size;
    },
  };
}

/**
 * Puts pieces into a stream whenever it is empty, until there are no more. Node emits `end` if the stream is empty a
 * tick after a read, so the next piece is put in before the read that empties the stream returns.
 */
function refill(req: IncomingMessage, next: () => Buffer | undefined): void {
  let isOver = false;
  const fill = (): void => {
    // A flowing stream passes a piece on at once and is empty again.
    while (!isOver && req.readableLength === 0) {
      const piece = next();
      isOver = piece === undefined;
      const { decoder } = stateOf(req);
      const content = decoder ? (piece ? decoder.write(piece) : decoder.end()) : piece;
      if (content !== undefined) req.unshift(content, req.readableEncoding ?? undefined);
    }
  };
  const read = req.read.bind(req);
  req.read = (size?: number) => {
    const chunk: unknown = read(size);
    fill();
    return chunk;
  };
  fill();
}
