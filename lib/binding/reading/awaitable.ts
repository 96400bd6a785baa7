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
