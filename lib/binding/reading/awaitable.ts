/** A value, now or later: what is known at once is not waited for. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on with a value as soon as it is there: in this very call, unless it is promised. */
export function after<V, R>(value: Awaitable<V>, use: (value: V) => Awaitable<R>): Awaitable<R> {
  if (!(value instanceof Promise)) return use(value);
  const later = value.then(use);
  // Who waits for it sees the error. When binding has failed before, nobody does, and that must not end the process.
  later.catch(() => undefined);
  return later;
}

/** Does work, and hands over what it comes to, or its error: in this very call, unless it is promised. An error of `use` is for whoever called. */
export function whenDone<V>(work: () => Awaitable<V>, use: (value: V) => void, fail: (error: unknown) => void): void {
  let value: Awaitable<V>;
  try {
    value = work();
  } catch (error) {
    fail(error);
    return;
  }
  if (value instanceof Promise) value.then(use, fail);
  else use(value);
}
