import type { IncomingMessage } from 'node:http';
import type { StringDecoder } from 'node:string_decoder';

/** State of a stream that no public property of node tells. The names are the same from Node 20 to 26. */
interface StreamState {
  /** True when the source has given its last byte, which need not be read yet. */
  ended: boolean;
  /** The value of `readableDidRead`. */
  dataEmitted: boolean;
  /** The error with which it was destroyed. */
  errored: Error | null | undefined;
  /** Made by `setEncoding()`. */
  readonly decoder: StringDecoder | null | undefined;
}

export const stateOf = (req: IncomingMessage): StreamState =>
  (req as unknown as { readonly _readableState: StreamState })._readableState;
