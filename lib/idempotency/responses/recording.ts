import type { Patience } from './departure';
import type { RecordedResponse } from './recorded-response';

export interface Limits extends Patience {
  /** Bytes of the body that are kept. */
  readonly maxResponseBytes: number;
}

/**
 * How a handler left its response.
 * - `complete`: it has run; `response` is undefined where there is none to keep (too large, never ended, or destroyed after the
 *   handler was told that its client has left).
 * - `cut-off`: it destroyed it half-way, or it never began to respond to a client that has left.
 */
export type Ending =
  { readonly kind: 'complete'; readonly response: RecordedResponse | undefined } | { readonly kind: 'cut-off' };

/** A response under observation. After `ending`, exactly one of the three methods is to be called. */
export interface Recording {
  readonly ending: Promise<Ending>;
  /** False once bytes have gone to the client. */
  readonly canBeReplaced: boolean;
  /** There is no response to hold on for: a client that has left, or leaves later, is reported to the handler at once. */
  reportDeparture(): void;
  /** Lets the end of the response go to the client. */
  release(): void;
  /** Takes the response back and leaves it as it was before the handler. */
  withdraw(): void;
  /** Closes the connection, so that the client cannot take what it has for a whole response. */
  cut(): void;
}
