import type { ClassCode } from '../reading/class-code';
import { asJson, isJsonObject, type JsonObject } from '../reading/json-text';
import { valueUnder } from '../reading/own-value';
import { textWriter, written, type WriteJson } from '../types/codec';
import type { Member } from './members';

/** The members of a class, and the code that writes them. */
export interface ObjectWriters {
  readonly members: readonly Member[];
  readonly writeText: (value: object) => string;
  readonly writePlain: (value: object) => object;
}

export function objectWriters(members: readonly Member[], code: ClassCode): ObjectWriters {
  const fields = members.map(({ property, jsonName, codec }) => {
    const { plain = never, keeps = false } = codec.toJson ?? {};
    return { property, jsonName, text: textWriter(codec), plain, keeps };
  });
  return { members, writeText: code.textWriter(fields), writePlain: code.plainWriter(fields) };
}

/** Stands for the plain form of a type that has none; it is never called. */
const never = (): undefined => undefined;

/**
 * Writes an object of a dto class as JSON, in three forms: for the writer of exact numbers, as text, and for
 * `JSON.stringify`.
 * @param declared the class, as an error names it.
 */
export function writeObject(declared: string, writers: () => ObjectWriters): WriteJson {
  const refused = (what: string): TypeError =>
    new TypeError(`The response is declared as ${declared}, but the handler passed ${what}.`);
  const hasValues = (object: JsonObject): boolean =>
    writers().members.some(({ property }) => valueUnder(object, property) !== undefined);
  const asObject = (value: unknown): JsonObject => {
    if (!isJsonObject(value)) throw refused('a value that is not an object');
    const { toJSON } = value;
    // The documents of a database have getters for their properties; other objects show them only in their JSON.
    if (typeof toJSON !== 'function' || hasValues(value)) return value;
    const json = asJson(value);
    if (!isJsonObject(json)) throw refused('an object whose toJSON() returns no object');
    return json;
  };
  const toJson = (value: unknown): JsonObject => {
    const object = asObject(value);
    return Object.fromEntries(
      writers().members.flatMap(({ property, jsonName, codec }) => {
        const own = valueUnder(object, property);
        return own === undefined ? [] : [[jsonName, written(codec, own)]];
      }),
    );
  };
  return Object.assign(toJson, {
    text: (value: unknown) => writers().writeText(asObject(value)),
    plain: (value: unknown) => writers().writePlain(asObject(value)),
  });
}
