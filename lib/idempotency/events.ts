/**
 * What became of a request, told to `onEvent`.
 * - `executed`: the handler ran and its response is stored;
 * - `replayed`: the stored response was sent at once; `waited`: after waiting for the first request;
 * - `conflicted`: 409, the first request was still running; `reused`: 422, the key belongs to another request;
 * - `store-failed`: the store did not answer in time; the handler did not run, or ran unguarded if so configured;
 * - `lease-lost`: the lease ran out under a running handler, and another request may have run it again;
 * - `not-stored`: the handler ran, but its response could not be stored or was not to be.
 */
export type IdempotencyEventKind = 'executed' | 'replayed' | 'waited' | 'conflicted' | 'reused' | 'store-failed' | 'lease-lost' | 'not-stored';

export interface IdempotencyEvent {
  readonly kind: IdempotencyEventKind;
  readonly key: string;
  readonly cacheKey: string;
  /** Milliseconds since the middleware received the request. */
  readonly durationMs: number;
  /** Status of the response, where there is one. */
  readonly status?: number;
  /** What went wrong (`store-failed`, `not-stored`). */
  readonly error?: unknown;
}

/** Tells `onEvent` about one request. */
export type Tell = (kind: IdempotencyEventKind, more?: Pick<IdempotencyEvent, 'status' | 'error'>) => void;

/** An observer that throws must not change what becomes of the request. */
export function teller(onEvent: (event: IdempotencyEvent) => unknown, about: Pick<IdempotencyEvent, 'key' | 'cacheKey'>, received: number): Tell {
  return (kind, more) => {
    const warn = (error: unknown): void => { process.emitWarning(`bindonce: onEvent failed: ${String(error)}`); };
    try {
      const returned: unknown = onEvent({ kind, ...about, durationMs: performance.now() - received, ...more });
      if (returned instanceof Promise) returned.catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}
