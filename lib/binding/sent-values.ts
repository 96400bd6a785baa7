import { types } from 'node:util';
import { isDto } from './declaration/declarations';

type Scalar = string | number | bigint | boolean;

/**
 * Values by name, of which several of one name are an array; or pairs as they were sent, as in URLSearchParams and
 * Headers.
 */
export type SentValues =
  Readonly<Record<string, Scalar | readonly Scalar[]>> | Iterable<readonly [name: string, value: Scalar]>;

type Pair = [name: string, value: string];

/** Encodes values as a query or a form. @throws TypeError for values that neither can hold. */
export const encoded = (values: SentValues, part: string): string =>
  new URLSearchParams(pairsOf(isIterable(values) ? values : asItems(values, part), part)).toString();

/** Gives the text of each value. @throws TypeError for a value that has none; undefined is left out. */
export function pairsOf(values: SentValues, part: string): Pair[] {
  if (!isIterable(values)) {
    checkReadable(values, part);
    return Object.entries(values).flatMap(([name, value]) => [value].flat().flatMap(one => pairOf(name, one, part)));
  }
  return [...values].flatMap((pair: unknown) => {
    const [name, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof name === 'string') return pairOf(name, value, part);
    throw new TypeError(`bind: ${part} has an item that is not a pair of a name and a value`);
  });
}

function pairOf(name: string, value: unknown, part: string): Pair[] {
  if (value === undefined) return [];
  if (isScalar(value)) return [[name, String(value)]];
  const given = value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  throw new TypeError(
    `bind: ${part}.${name} is ${given}; give text, a number, a boolean, or an array of them, or leave it out`,
  );
}

/** Returns true for a value that is sent as text. A function and a symbol have texts, too, but no one means those. */
const isScalar = (value: unknown): value is Scalar => SCALARS.includes(typeof value);

const SCALARS = ['string', 'number', 'bigint', 'boolean'];

/** @throws TypeError for an object that would seem to have no values. */
export function checkReadable(values: object, part: string): void {
  const name = opaqueClassOf(values);
  if (name !== undefined)
    throw new TypeError(
      `bind: ${part} is an instance of ${name}, whose values cannot be read; give an object with the values by name`,
    );
}

/**
 * Returns the name of an object's class if its content is not in its properties, which are all that is read: Map, Blob,
 * Promise. Undefined for all other values.
 */
export function opaqueClassOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || types.isBoxedPrimitive(value))
    return undefined;
  const prototype = Object.getPrototypeOf(value) as object | null;
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null || isDto(prototype.constructor);
  const isOpen = !isIterable(value) && Object.keys(value).length > 0;
  return isPlain || isOpen ? undefined : prototype.constructor.name;
}

const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/**
 * Gives brackets to the name of an array of one text that would otherwise be read as several items, or as JSON. Others
 * have none, because an array of one may also be the value of a property that is not a collection.
 */
function asItems(values: Exclude<SentValues, Iterable<unknown>>, part: string): SentValues {
  checkReadable(values, part);
  const entries = Object.entries(values).map(([name, value]) => {
    const [only, second] = Array.isArray(value) ? (value as readonly Scalar[]) : [];
    const isSplit = second === undefined && /,|^\s*[[{]/.test(String(only)) && !name.endsWith(']');
    return [isSplit ? `${name}[]` : name, value] as const;
  });
  return Object.fromEntries(entries);
}
