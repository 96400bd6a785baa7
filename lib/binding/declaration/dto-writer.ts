import { asJson, isJsonObject, type JsonObject } from '../reading/json-text';
import { writableValue } from '../reading/own-value';
import { written } from '../types/write-value';
import type { Member } from './members';

/**
 * Makes the function that converts an object of a class to the one that JSON holds for it. It throws TypeError for a
 * value that is not such an object.
 * @param declared the class, as an error names it.
 */
export function objectWriter(declared: string, members: readonly Member[]): (value: unknown) => JsonObject {
  const refused = (what: string): TypeError =>
    new TypeError(`The response is declared as ${declared}, but the handler passed ${what}.`);
  const hasValues = (object: JsonObject): boolean =>
    members.some(({ property }) => writableValue(object, property) !== undefined);
  const asObject = (value: unknown): JsonObject => {
    if (!isJsonObject(value)) throw refused('a value that is not an object');
    const { toJSON, then } = value;
    if (typeof toJSON === 'function') return asJsonShows(value);
    if (typeof then === 'function' && !hasValues(value)) throw refused('a promise: await it first');
    return value;
  };
  const asJsonShows = (value: JsonObject): JsonObject => {
    const json = asJson(value);
    const isObject = isJsonObject(json);
    const shown = Object.fromEntries(
      members.map(({ property }) => [property, shownValue(value, isObject ? json : {}, property)]),
    );
    if (!isObject && !hasValues(shown)) throw refused('an object whose toJSON() returns no object');
    return shown;
  };
  return value => {
    const object = asObject(value);
    return Object.fromEntries(
      members.flatMap(({ property, jsonName, codec }) => {
        const own = writableValue(object, property);
        return own === undefined ? [] : [[jsonName, written(codec, own)]];
      }),
    );
  };
}

/**
 * Reads a property of an object with a `toJSON()`, which may mask it, leave it out, or be the only one to have it. A
 * value with a `toJSON()` of its own says itself how it is shown. A getter counts in any case: the documents of a
 * database have getters for their properties, which convert or mask what `toJSON()` shows as it is stored.
 */
function shownValue(object: object, json: object, name: string): unknown {
  const own = writableValue(object, name);
  if (own !== undefined && hasGetter(object, name)) return own;
  const shown = writableValue(json, name);
  return shown !== undefined && shown !== null && hasToJson(own) ? own : shown;
}

/** Returns true for an object with a `toJSON()`. (Applications give one to all bigints.) */
const hasToJson = (value: unknown): boolean =>
  typeof value === 'object' && typeof (value as { toJSON?: unknown } | null)?.toJSON === 'function';

function hasGetter(object: object, name: string): boolean {
  for (let holder: unknown = object; holder; holder = Object.getPrototypeOf(holder)) {
    const found = Object.getOwnPropertyDescriptor(holder, name);
    if (found) return found.get !== undefined;
  }
  return false;
}
