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
    if (typeof toJSON === 'function') {
      const json = asJson(value);
      if (isJsonObject(json)) return json;
      throw refused('an object whose toJSON() returns no object');
    }
    if (typeof then === 'function' && !hasValues(value)) throw refused('a promise: await it first');
    return value;
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
