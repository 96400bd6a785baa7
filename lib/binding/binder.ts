import type { BinderContext } from './input/binder-context';

/**
 * Makes the dto of a request. Invalid values are reported with `context.fail()`. A `Problem` that it throws is the
 * answer, or goes to `onProblem`; any other error goes to Express.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- A binder of no stated type is for any endpoint.
export interface Binder<T = any> {
  /**
   * @param signal aborts when the client disconnects, except behind `idempotency()`, where the work continues for the
   * retry.
   */
  bind(context: BinderContext<T>, signal: AbortSignal): T | Promise<T>;
}
