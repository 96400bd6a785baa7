/**
 * What became of a request, told to `onEvent`. A request gets one; `lease-lost` may come before it.
 * - `executed`: the handler ran and its response is stored.
 * - `not-stored`: the handler ran, but its response could not be stored in time (`error`; storing goes on) or was not to be.
 * - `replayed`: the stored response was sent at once.
 * - `waited`: the stored response was sent after waiting for the first request.
 * - `conflicted`: 409; the first request was still running, or its response could not be kept.
 * - `reused`: 422; the key belongs to another request.
 * - `refused`: the request has no usable key, a body that could not be read, or values that `bindRequest()` refused; the handler did not run.
 * - `abandoned`: the client left, or another middleware answered, before there was an answer; nothing ran.
 * - `store-failed`: the store did not answer in time; nothing ran, or the handler ran unguarded if so configured.
 * - `lease-lost`: the lease ran out under a running handler; another request may have run it again.
 */
export type IdempotencyEventKind =
  | 'executed'
  | 'not-stored'
  | 'replayed'
  | 'waited'
  | 'conflicted'
  | 'reused'
  | 'refused'
  | 'abandoned'
  | 'store-failed'
  | 'lease-lost';

export interface IdempotencyEvent {
  readonly kind: IdempotencyEventKind;
  /** Empty where the request has no usable key. */
  readonly key: string;
  /** Empty where the request was not read to its end. */
  readonly cacheKey: string;
  /** When the middleware received the request, in milliseconds since 1970, with fractions: what a span begins with. */
  readonly startTime: number;
  /** Milliseconds from then to this event: what a span lasts. Until the response may end, not until it was sent. */
  readonly durationMs: number;
  /** Milliseconds of these in which the handler ran (`executed`, `not-stored`); the rest is reading, waiting and the store. */
  readonly handlerMs?: number;
  /** Status of the response, where there is one. */
  readonly status?: number;
  /** What went wrong (`store-failed`, `not-stored`, `refused`). */
  readonly error?: unknown;
}
