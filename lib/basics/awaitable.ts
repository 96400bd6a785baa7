import { types } from 'node:util';

/** A value, or a promise of it. A value that is known at once is not awaited. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Tells a promise from a value. Asynchronous functions return promises of the language, also where the application has
 * replaced the global `Promise`. (Node is asked last: that takes the longest.)
 */
export function isPromise<T>(value: Awaitable<T>): value is Promise<T> {
  if (typeof value !== 'object' || (value as Partial<Promise<T>> | null)?.then === undefined) return false;
  return value instanceof Promise || types.isPromise(value);
}

/** Tells a promise of any library, an object with a method `then`, from any other value. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && typeof (value as Partial<PromiseLike<T>> | null)?.then === 'function';
}

/** Calls `use` with the value: synchronously, unless the value is a promise. */
export function after<V, R>(value: Awaitable<V>, use: (value: V) => Awaitable<R>): Awaitable<R> {
  if (!isPromise(value)) return use(value);
  const later = value.then(use);
  // Whoever awaits this promise sees its error. If another step has already failed, no one awaits it.
  ignoreRejection(later);
  return later;
}

/**
 * Lets a promise that no one awaits be rejected, which would end the process otherwise. Any other value is ignored; so
 * is an object of another library with a `then`, which may begin its work only when it is called.
 */
export function ignoreRejection(value: unknown): void {
  if (isPromise(value)) value.catch(() => undefined);
}

/**
 * Does the work. If it fails, at once or later, returns what `recover` makes of the error, or throws what that throws.
 */
export function recovering<V>(work: () => Awaitable<V>, recover: (error: unknown) => Awaitable<V>): Awaitable<V> {
  try {
    const value = work();
    return isPromise(value) ? value.catch(recover) : value;
  } catch (error) {
    return recover(error);
  }
}

/**
 * Does the work, and passes its result to `use` or its error to `fail`: synchronously, unless it returns a promise. An
 * error that `use` throws goes to the caller.
 */
export function whenDone<V>(work: () => Awaitable<V>, use: (value: V) => void, fail: (error: unknown) => void): void {
  let value: Awaitable<V>;
  try {
    value = work();
  } catch (error) {
    fail(error);
    return;
  }
  if (isPromise(value)) value.then(use, fail);
  else use(value);
}
