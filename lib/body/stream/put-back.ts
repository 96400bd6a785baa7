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
  req.setEncoding = setEncoding;
}

/**
 * Lets node decode what waits in the stream as if its end were still to come: after the end, node never emits what is
 * left in its decoder (up to Node 22).
 */
function setEncoding(this: IncomingMessage, encoding: BufferEncoding): IncomingMessage {
  if (stateOf(this).ended) continueWith(this, () => undefined);
  IncomingMessage.prototype.setEncoding.call(this, encoding);
  // Takes the rest out of the decoder: a stream in which nothing else waits would end without it.
  this.read(0);
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
  continueWith(req, () => {
    const piece = spool.read(position);
    position += piece.length;
    return piece.length > 0 ? piece : undefined;
  });
  // Takes the last byte out of the stream if it is there; as the first piece is put behind it, the stream does not end.
  req.read(req.readableLength);
  makeUnread(req);
  return {
    size: () => spool.size - position + req.readableLength,
    skip: () => {
      position = spool.size;
    },
  };
}

/**
 * Gives a stream that has ended another source. Node takes a piece from it whenever a reader needs more, and destroys
 * the stream with an error that the source throws.
 * @param next returns undefined at the end.
 */
function continueWith(req: IncomingMessage, next: () => Buffer | undefined): void {
  const state = stateOf(req);
  state.ended = false;
  // Node sets it at the first read from a connection, which an adapter of a serverless platform does not have.
  state.readingMore = false;
  req._read = () => {
    req.push(next() ?? null);
  };
}
