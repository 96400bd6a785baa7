/** The number of parameters by which Express knows a handler of errors. */
const ERROR_HANDLER = 4;

/** Returns the last handler that gets requests: one of errors gets none. */
export function lastHandler(handlers: readonly unknown[]): ((...args: unknown[]) => unknown) | undefined {
  return handlers
    .filter(handle => typeof handle === 'function')
    .filter(({ length }) => length !== ERROR_HANDLER)
    .at(-1) as ((...args: unknown[]) => unknown) | undefined;
}
