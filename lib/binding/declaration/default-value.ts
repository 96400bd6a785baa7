import BigNumber = require('bignumber.js');
import { types } from 'node:util';
import { Version } from '../types/identifiers';
import { bareInstance, isBare } from './bare-instance';
import { declarationsOf, isDto } from './declarations';
import type { PropertySpec } from './property';

/**
 * Makes the default value for one request. A mutable default is made anew, by its function or as a copy, so that no
 * request sees another's changes.
 */
export function defaultOf({ default: value }: Pick<PropertySpec, 'default'>): unknown {
  return typeof value === 'function' ? (value as () => unknown)() : copyOfDefault(value);
}

/** Makes the default value for a new instance; undefined if it is made only where no source has the value. */
export function initialDefault(instance: object, spec: Pick<PropertySpec, 'default'>): unknown {
  return isMade(spec) && isBare(instance) ? undefined : defaultOf(spec);
}

/** Returns true if a function makes the default. */
export const isMade = (spec: Pick<PropertySpec, 'default'>): boolean => typeof spec.default === 'function';

/** Returns true if a class, or a base class of it, has a default that a function makes. */
export const hasMadeDefaults = (Dto: object): boolean =>
  [...declarationsOf(Dto)].some(own => [...own.values()].some(isMade));

/** @throws TypeError for a default that cannot be copied and could be changed: all requests would share it. */
export function checkDefault(value: unknown): void {
  if (typeof value !== 'function') copyOfDefault(value);
}

function copyOfDefault(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOfDefault);
  const prototype = Object.getPrototypeOf(value) as object | null;
  const copy = prototype && copies.get(prototype);
  if (copy) return copy(value as never);
  if (ArrayBuffer.isView(value)) return Buffer.isBuffer(value) ? Buffer.from(value) : structuredClone(value);
  if (isPlain(prototype)) return copyOfObject(value, prototype);
  if (isImmutable(value)) return value;
  throw new TypeError(
    `the default has an instance of ${nameOf(prototype)}, which could be changed, and all requests would share it; ` +
      'pass a function that makes the default, or freeze the instance and what it holds (Object.freeze)',
  );
}

/** Copies the properties. An instance of a dto class is made by its constructor, because it may have private fields. */
function copyOfObject(value: object, prototype: object | null): object {
  const Dto: unknown = prototype?.constructor;
  const copy = isDto(Dto) ? (bareInstance(Dto) as object) : (Object.create(prototype) as object);
  for (const name of Object.keys(copy)) if (!Object.hasOwn(value, name)) Reflect.deleteProperty(copy, name);
  const entries = Object.entries(value).map(([name, one]) => [name, copyOfDefault(one)]);
  return Object.assign(copy, Object.fromEntries(entries) as object);
}

/** Copies instances of these classes. One of a derived class may have a state of its own, which is not known. */
const copies = new Map<object, (value: never) => unknown>([
  [Date.prototype, (date: Date) => new Date(date)],
  [URL.prototype, (url: URL) => new URL(url)],
  [URLSearchParams.prototype, (pairs: URLSearchParams) => new URLSearchParams(pairs)],
  [Set.prototype, (set: Set<unknown>) => new Set([...set].map(copyOfDefault))],
  // An object that is a key is found by itself only, not by a copy.
  [Map.prototype, (map: Map<unknown, unknown>) => new Map([...map].map(([key, one]) => [key, copyOfDefault(one)]))],
  [ArrayBuffer.prototype, (bytes: ArrayBuffer) => bytes.slice(0)],
]);

/** Returns true for the prototype of a plain object or a dto, of which the properties are copied. */
const isPlain = (prototype: object | null): boolean =>
  prototype === null || prototype === Object.prototype || isDto(prototype.constructor);

/** Returns true for what no request can change: a number of `decimal`, a version, and what is frozen to its depth. */
function isImmutable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (BigNumber.isBigNumber(value) || value instanceof Version) return true;
  // What these hold is not in their properties.
  const isOpen = types.isMap(value) || types.isSet(value) || types.isDate(value);
  return !isOpen && Object.isFrozen(value) && Object.values(value).every(isImmutable);
}

const nameOf = (prototype: object | null): string => prototype?.constructor.name ?? 'a class without a name';
