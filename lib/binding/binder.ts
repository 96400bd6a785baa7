import type { BinderContext } from './input/binder-context';

/** SPEC's IRequestBinder: makes the dto of a request. What it throws is Express's; failures go into the context. */
export interface Binder<T = unknown> {
  /** @param signal aborts when the client has hung up; not behind `idempotency()`, where the work goes on for the retry. */
  bind(context: BinderContext<T>, signal: AbortSignal): T | Promise<T>;
}
