import BigNumber = require('bignumber.js');
import { Version } from '../types/identifiers';

/** Makes the default value for one request, by its function or as a copy: no request sees another's changes. */
export function defaultOf({ default: value }: { readonly default?: unknown }): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : copyOf(value);
}

/** @throws TypeError for a default that cannot be copied: all requests would share it. */
export function checkDefault(value: unknown): void {
  if (typeof value !== 'function') copyOf(value);
}

/** Copies plain data, and the values of our types. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  // Neither can be changed.
  if (BigNumber.isBigNumber(value) || value instanceof Version) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof URL) return new URL(value);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null || prototype === Object.prototype)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyOf(one)]));
  throw new TypeError(
    `the default has an instance of ${prototype.constructor.name || 'a class without a name'}, which could be ` +
      'changed, and all requests would share it; pass a function that makes the default',
  );
}
