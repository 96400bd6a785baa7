import type { IncomingMessage } from 'node:http';

/** State of a stream that no public property of node tells. The names are the same from Node 20 to 26. */
interface StreamState {
  /** True when the source has given its last byte, which need not be read yet. */
  ended: boolean;
  /** True until the first read from the connection: then node does not fill the stream ahead of its reader. */
  readingMore: boolean;
  /** The value of `readableDidRead`. */
  dataEmitted: boolean;
  /** The error with which it was destroyed. */
  errored: Error | null | undefined;
}

export const stateOf = (req: IncomingMessage): StreamState =>
  (req as unknown as { readonly _readableState: StreamState })._readableState;
