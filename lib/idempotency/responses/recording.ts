import type { DepartureTimes } from './departure';
import type { RecordedResponse } from './recorded-response';

export interface Limits extends DepartureTimes {
  /** Bytes of the body that are kept. */
  readonly maxResponseBytes: number;
}

/**
 * How a handler left its response.
 * - `complete`: it has run; `response` is undefined if there is none to keep: it cannot be replayed
 *   (`ResponseHead.withBody`), it was never ended, or it was broken off after the client had disconnected, or while a
 *   later middleware could hold its end.
 * - `cut-off`: it broke the response off otherwise, or never began to respond to a client that has disconnected.
 */
export type Ending =
  { readonly kind: 'complete'; readonly response: RecordedResponse | undefined } | { readonly kind: 'cut-off' };

/**
 * A response that is being recorded. After `ending`, exactly one of `finish`, `discard` and `abort` is to be called.
 */
export interface Recording {
  readonly ending: Promise<Ending>;
  /** False once bytes have gone to the client. */
  readonly canBeReplaced: boolean;
  /** True once bytes have gone to the client, or the handler has ended or destroyed its response. */
  readonly hasResponded: boolean;
  /** True if the client has disconnected before it had sent the whole request. */
  readonly isUploadBrokenOff: boolean;
  /** Lets the handler learn at once when its client disconnects, or has done so: no response is to be stored. */
  stopHidingDeparture(): void;
  /** Closes the connection, unless the handler has ended its response: nothing more will be written. */
  breakOff(): void;
  /**
   * Lets the end of the response go to the client.
   * @param isStored true if a retry gets this response: then it also counts as sent if the client has disconnected.
   */
  finish(isStored: boolean): void;
  /**
   * To be called when the response will be taken back. Until then, it looks as if its head was sent, and nothing can be
   * added to it; the client can leave, of which the handler learns at once.
   */
  withhold(): void;
  /** Takes the response back, and restores it as it was before the handler. */
  discard(): void;
  /** Closes the connection, so that the client does not mistake a part of the response for the whole. */
  abort(): void;
}
