import type { RecordedResponse } from '../responses/recorded-response';

/** The outcome of a request: the reporter reports it to `onEvent`, and `answer()` answers the client. */
export type Outcome =
  | Ran
  /** The request was refused before its handler could run. */
  | { readonly kind: 'refused'; readonly error: unknown }
  /** There is no one left to answer. If the handler has run for this request, another run's response counts. */
  | { readonly kind: 'abandoned' }
  /** An earlier run of the same request is done. */
  | { readonly kind: 'replayed'; readonly response: RecordedResponse; readonly waited: boolean }
  /** An earlier run is done, but its response was not kept. */
  | { readonly kind: 'response-unavailable' }
  /** Another request runs, or may begin to; it holds the lease for `msLeft` more milliseconds. */
  | { readonly kind: 'in-flight'; readonly msLeft: number }
  /** The key belongs to a request with other values. */
  | { readonly kind: 'key-reused' }
  /** The store failed; `hasRun` is true if the request was executed before. */
  | { readonly kind: 'store-unavailable'; readonly hasRun: boolean; readonly error: unknown }
  /** The store failed, and the application prefers to run the handler without the guarantee. */
  | { readonly kind: 'unguarded'; readonly key: string; readonly cacheKey: string; readonly error: unknown };

/** What is mounted after `idempotency()` was called, and has ended its response. */
export interface Ran {
  readonly kind: 'ran';
  readonly result: RunResult;
  /**
   * Lets the end of the response go to the client, or closes the connection if it must not be taken for a whole one.
   */
  readonly sendEnd: () => void;
}

/** The result of calling what is mounted after `idempotency()`. */
export type RunResult =
  | { readonly kind: 'executed'; readonly status: number; readonly handlerMs: number }
  /** The response is not to be stored, or could not be stored in time (`error`). */
  | { readonly kind: 'not-stored'; readonly status: number; readonly handlerMs: number; readonly error?: unknown }
  /** A later middleware has refused the request before its handler ran. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: unknown }
  /** The client disconnected before the handler ran. */
  | { readonly kind: 'abandoned' }
  /** Another run's response counts, and a part of this one has been sent. */
  | { readonly kind: 'overtaken'; readonly handlerMs: number };
