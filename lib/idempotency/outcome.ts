import type { RecordedResponse } from './responses/recorded-response';

/** The outcome of a request: the reporter reports it to `onEvent`, and `answer()` answers the client. */
export type Outcome =
  /** The handler ran, and its response is stored. */
  | ({ readonly kind: 'executed' } & Ran)
  /** The handler ran. Its response could not be stored, or not in time (`error`), or another run's counts. */
  | ({ readonly kind: 'not-stored'; readonly error?: unknown } & Ran)
  /** The handler ran. Its response is not stored by choice of the application. */
  | ({ readonly kind: 'forgotten' } & Ran)
  /** The request was refused before its handler could run; with `sendEnd` by a later middleware, which has answered. */
  | ({ readonly kind: 'refused'; readonly error: unknown } & Partial<Ran>)
  /** There is no one left to answer, and nothing ran. */
  | ({ readonly kind: 'abandoned' } & Partial<Ran>)
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

/** What is mounted after `idempotency()` was called, and its response has ended. */
interface Ran {
  /** Status of the response, if it is sent. */
  readonly status?: number;
  readonly handlerMs: number;
  /** Lets the end of the response go out, or closes the connection if it must not be taken for a whole one. */
  readonly sendEnd: () => void;
}
