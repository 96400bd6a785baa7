/**
 * The outcome of a request, reported to `onEvent`. Each guarded request has one; `lease-lost` may come before it.
 * - `executed`: the handler ran and its response is stored.
 * - `not-stored`: the handler ran, and its response could not be stored: late (storing goes on), too long, broken off,
 *   or another run's response counts.
 * - `forgotten`: the handler ran, and its response is not stored by choice: `forget()`, or `shouldCache`.
 * - `replayed`: the stored response was sent at once.
 * - `waited`: the stored response was sent after waiting for the first request.
 * - `conflicted`: 409; the first request was still running.
 * - `unavailable`: 409; the request was executed before, and its response is lost.
 * - `outcome-unknown`: 409; its process died, and nobody has settled what it has done.
 * - `reused`: 422; the key belongs to another request.
 * - `refused`: no usable key, an unreadable body, or values that `bindRequest()` refused; the handler did not run.
 * - `abandoned`: the client left, or another middleware answered, before the handler ran.
 * - `store-failed`: the store failed or was too slow; the handler did not run, or ran unguarded if so configured.
 * - `unguarded`: no key, and let through (`whenKeyMissing: 'run'`).
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
  /** When the request was received, in milliseconds since 1970. */
  readonly startTime: number;
  /** Milliseconds from `startTime` until the response was allowed to end. */
  readonly durationMs: number;
  /** Milliseconds of `durationMs` in which the handler ran. */
  readonly handlerMs?: number;
  /** Status of the response, if there is one. */
  readonly status?: number;
  /** The reason of `store-failed`, `not-stored` or `refused`. */
  readonly error?: unknown;
}
