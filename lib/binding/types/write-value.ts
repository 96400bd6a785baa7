import { isPromise } from '../../basics/awaitable';
import { isExactNumber } from '../../body/content/exact-json';
import { asJson, isJsonObject, type JsonObject } from '../reading/json-text';
import { writableValue } from '../reading/own-value';
import type { AnyCodec, ObjectCodec } from './codec';
import { WrittenNumber } from './exact-text';
import { writableAsSchema } from './schema-writer';

/**
 * Converts a value to what JSON holds for it; null and undefined stay as they are. It gets any value that a handler may
 * pass.
 * @throws TypeError for a value of another shape than declared: it must not be exposed to the client.
 */
export function written(codec: AnyCodec, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  switch (codec.kind) {
    case 'scalar':
      if (codec.inner && !codec.write) return written(codec.inner, value);
      return codec.read ? codec.write?.(value) : asScalar(codec.write ? codec.write(value) : value, codec.name);
    case 'nullable':
      return written(codec.inner, value);
    case 'list':
      if (Array.isArray(value)) return value.map(one => written(codec.item, one));
      throw refused(codec.name, isPromise(value) ? PROMISE : 'a value that is not an array', 'a ');
    case 'object': {
      const object = objectOf(codec, value);
      return Object.fromEntries(
        codec.members.flatMap(member => {
          const own = writableValue(object, member.property);
          return own === undefined ? [] : [[member.jsonName, written(member.codec, own)]];
        }),
      );
    }
    case 'file':
      return value;
    case 'schema':
      return writableAsSchema(value, codec.name);
  }
}

const PROMISE = 'a promise: await it first';

const refused = (declared: string, what: string, article = ''): TypeError =>
  new TypeError(`The response is declared as ${article}${declared}, but the handler passed ${what}.`);

function objectOf({ name, members }: ObjectCodec, value: unknown): JsonObject {
  const declared = name === 'object' ? 'an object' : name;
  if (!isJsonObject(value)) throw refused(declared, 'a value that is not an object');
  const { toJSON, then } = value;
  if (typeof toJSON === 'function') {
    const json = asJson(value);
    if (isJsonObject(json)) return json;
    throw refused(declared, 'an object whose toJSON() returns no object');
  }
  const hasNone = (): boolean => members.every(({ property }) => writableValue(value, property) === undefined);
  if (typeof then === 'function' && hasNone()) throw refused(declared, PROMISE);
  return value;
}

/** @throws TypeError for an object: a handler that passes another value than declared must not expose it. */
export function asScalar(json: unknown, name: string): unknown {
  if (typeof json === 'bigint') return new WrittenNumber(String(json));
  if (typeof json !== 'object' || json === null || isExactNumber(json)) return json;
  const text = asJson(json);
  if (typeof text !== 'object' || text === null) return text;
  throw new TypeError(`The response declares ${name} here, but the handler passed an object.`);
}
