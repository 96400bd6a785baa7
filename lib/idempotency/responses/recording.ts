import type { RecordedResponse } from './recorded-response';

/**
 * How a handler left its response.
 * - `complete`: it has run; `response` is undefined where there is none to keep (too large, or never ended).
 * - `cut-off`: it destroyed it half-way.
 */
export type Ending = { readonly kind: 'complete'; readonly response: RecordedResponse | undefined } | { readonly kind: 'cut-off' };

/** A response under observation. After `ending`, exactly one of the three methods is to be called. */
export interface Recording {
  readonly ending: Promise<Ending>;
  /** False once bytes have gone to the client. */
  readonly canBeReplaced: boolean;
  readonly clientGone: boolean;
  /** True once the handler has written the head. */
  readonly hasBegun: boolean;
  /** True when nothing has been written for `ms` milliseconds, counted anew from when the client went. */
  isStalledFor(ms: number): boolean;
  /** Waits no longer for the end: the handler has run, and there is no response to keep. */
  abandon(): void;
  /** Lets the end of the response go to the client. */
  release(): void;
  /** Takes the response back and leaves the bare one, as it was before the handler. */
  withdraw(): void;
  /** Closes the connection, so that the client cannot take what it has for a whole response. */
  cut(): void;
}
