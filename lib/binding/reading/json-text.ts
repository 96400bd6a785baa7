import { INVALID, type Location } from './failures';
import { isPlain } from '../../options/merge';
import { isExactNumber, parseExactly } from '../../body/content/exact-json';

/** Reads JSON out of one text: a query parameter, a form field, a claim or a header. */
export function jsonInText(text: string, at: Location, read: (value: unknown, at: Location) => unknown): unknown {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    return error instanceof RangeError ? at.failTooDeep() : at.failValue(text, 'a JSON text');
  }
  return read(value, at.asJson());
}

/**
 * Parses text that looks like a JSON object, an array, or several objects with commas between them; undefined for other
 * text.
 */
export function jsonLike(text: string): unknown {
  for (const json of /^\s*[[{]/.test(text) ? [text, `[${text}]`] : [])
    try {
      return parseExactly(json);
    } catch {
      // It is other text.
    }
  return undefined;
}

/** Applies the value's toJSON(), as JSON.stringify does: a Date becomes text. */
export function asJson(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (value as { toJSON(): unknown }).toJSON() : value;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);

/**
 * Replaces exact numbers by doubles, for code that expects the output of JSON.parse, and reports a failure if a limit
 * is exceeded. What a parser in front has made of a value, such as a Date, stays as it is.
 */
export function plainJson(value: unknown, at: Location, depth = at.depth): unknown {
  if (isExactNumber(value)) return Number(value.value);
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return value;
  const { items: limit } = at.failures.limits;
  if (depth > at.failures.limits.depth) return at.failTooDeep();
  if (isArray && value.length > limit)
    return at.fail('too-many-items', `There is an array of more than ${limit} items.`);
  const copy: unknown[] = [];
  for (const one of isArray ? (value as unknown[]) : Object.values(value as object)) {
    const plain = plainJson(one, at, depth + 1);
    if (plain === INVALID) return INVALID;
    copy.push(plain);
  }
  // Object.fromEntries defines properties, so `__proto__` is a name like any other.
  return isArray ? copy : Object.fromEntries(Object.keys(value as object).map((name, index) => [name, copy[index]]));
}

/** Reads an own property of an object; inherited ones, such as `constructor` and `__proto__`, count as absent. */
export const ownValue = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as JsonObject)[name] : undefined;

/**
 * Returns the text of a route parameter or a form field. A middleware in front may have converted it to a number, a
 * boolean, or a date (celebrate, express-validator, `router.param()`). Undefined for a value that has no text.
 */
export function convertedText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const json = asJson(value);
  return /string|number|bigint|boolean/.test(typeof json) ? String(json) : undefined;
}
