/**
 * The outcome of a request, reported to `onEvent`. Each guarded request has one; `lease-lost` may come before it.
 * - `executed`: the handler ran and its response is stored.
 * - `not-stored`: the handler ran, but its response could not be stored: not in time (`error`; storing goes on), it is
 *   longer than `maxResponseBytes` or was broken off, or another run's response counts (after `lease-lost`).
 * - `forgotten`: the handler ran, and its response is not stored by choice: `forget()`, or `shouldCache`.
 * - `replayed`: the stored response was sent at once.
 * - `waited`: the stored response was sent after waiting for the first request.
 * - `conflicted`: 409; the first request was still running: wait, and retry.
 * - `unavailable`: 409; the request was executed before, and its response is not there: lost for good.
 * - `outcome-unknown`: 409; the process of the request died, and nobody has settled yet what it has done
 *   (`whenOwnerDies: 'refuse'`).
 * - `reused`: 422; the key belongs to another request.
 * - `refused`: no usable key, an unreadable body, values that `bindRequest()` refused, or an error that `idempotency()`
 *   itself passed to `next`; the handler did not run, or, without Express to catch its error, threw before it began to
 *   respond.
 * - `abandoned`: the client disconnected, or another middleware answered, before there was an answer; nothing ran, or
 *   another run's response counts (after `lease-lost`).
 * - `store-failed`: the store failed or was too slow; this request ran nothing, or ran unguarded if so configured. An
 *   earlier one may have run: the `detail` of the 503 says so.
 * - `unguarded`: the request has no key, and was let through (`whenKeyMissing: 'run'`).
 * - `lease-lost`: the lease expired while the handler ran; another request may have run it again.
 */
export type IdempotencyEventKind =
  | 'executed'
  | 'not-stored'
  | 'forgotten'
  | 'replayed'
  | 'waited'
  | 'conflicted'
  | 'unavailable'
  | 'outcome-unknown'
  | 'reused'
  | 'refused'
  | 'abandoned'
  | 'store-failed'
  | 'unguarded'
  | 'lease-lost';

/** One outcome of a request, as `onEvent` gets it. */
export interface IdempotencyEvent {
  /** The outcome. */
  readonly kind: IdempotencyEventKind;
  /** Empty if the request has no usable key. */
  readonly key: string;
  /** Empty if the request was not read to its end. */
  readonly cacheKey: string;
  /** When the middleware received the request, in milliseconds since 1970, with fractions: the start of a span. */
  readonly startTime: number;
  /**
   * Milliseconds from `startTime` to this event: the length of a span. Counted until the response is allowed to end,
   * not until it has been sent.
   */
  readonly durationMs: number;
  /**
   * Milliseconds of `durationMs` in which the handler ran (`executed`, `not-stored`, `forgotten`); the rest is reading,
   * waiting, storing.
   */
  readonly handlerMs?: number;
  /** Status of the response, if there is one. */
  readonly status?: number;
  /** The reason of `store-failed`, `not-stored` or `refused`. */
  readonly error?: unknown;
}
