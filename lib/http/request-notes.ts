import type { IncomingMessage } from 'node:http';
import { oneInProcess } from '../basics/one-in-process';

/**
 * What bindonce notes about requests, under one name, shared by all copies of this module in the process.
 *
 * Not a property of the request: on Node 20 and 22, each property that is added to a request of Express takes 2 to 3 µs
 * and 1.5 kB, because Express changes its prototype, and V8 makes a new shape for everything that is added after that.
 *
 * @typeParam T of values that do not refer to the request: V8 would keep both until its next major garbage collection.
 */
export function requestNotes<T>(name: string): WeakMap<IncomingMessage, T> {
  return oneInProcess(name, () => new WeakMap<IncomingMessage, T>());
}
