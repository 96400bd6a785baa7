import type { BinderContext } from './input/binder-context';

/**
 * Makes the dto of a request. Invalid values are reported with `context.fail()`; an error that it throws goes to
 * Express.
 */
export interface Binder<T = unknown> {
  /**
   * @param signal aborts when the client disconnects, except behind `idempotency()`, where the work continues for the
   * retry.
   */
  bind(context: BinderContext<T>, signal: AbortSignal): T | Promise<T>;
}
