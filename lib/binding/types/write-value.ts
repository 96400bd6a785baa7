import { isPromise, isThenable } from '../../basics/awaitable';
import { isExactNumber } from '../../body/content/exact-json';
import { asJson, isJsonObject, type JsonObject, writableValue } from '../reading/json-text';
import type { AnyCodec, ObjectCodec } from './codec';
import { WrittenNumber } from './exact-text';

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
      throw refused(`a ${codec.name}`, isPromise(value) ? PROMISE : 'a value that is not an array');
    case 'object': {
      const object = objectOf(codec, value);
      const json: Record<string, unknown> = {};
      for (const member of codec.members) {
        const own = writableValue(object, member.property);
        if (own === undefined) continue;
        const value = written(member.codec, own);
        // An assignment of `__proto__` would be none. (`Object.fromEntries` takes three times the time of assignments.)
        if (member.jsonName === '__proto__') Object.defineProperty(json, '__proto__', { value, enumerable: true });
        else json[member.jsonName] = value;
      }
      return json;
    }
    case 'union': {
      const { name, tag, branches } = codec;
      const object = objectOf({ name, members: [tag] }, value);
      const branch = branches.get(writableValue(object, tag.property));
      if (branch) return written(branch, object);
      throw refused(name, `an object whose ${tag.property} is none of ${[...branches.keys()].join(', ')}`);
    }
    case 'record':
      if (isJsonObject(value) && !isPromise(value))
        return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, written(codec.item, one)]));
      throw refused(`a ${codec.name}`, isPromise(value) ? PROMISE : 'a value that is not an object');
    case 'file':
      return value;
    case 'schema':
      // Schemas say what is read, and check nothing that is written. JSON would show a promise as an empty object.
      if (isUnawaited(value)) throw refused(`a schema of ${codec.name}`, PROMISE);
      if (Array.isArray(value) && value.some(isUnawaited))
        throw refused(`a schema of ${codec.name}`, 'a promise in an array: await Promise.all(…) of the array first');
      return value;
  }
}

const PROMISE = 'a promise: await it first';

const refused = (declared: string, what: string): TypeError =>
  new TypeError(`The response is declared as ${declared}, but the handler passed ${what}.`);

function objectOf({ name, members }: Pick<ObjectCodec, 'name' | 'members'>, value: unknown): JsonObject {
  const declared = name === 'object' ? 'an object' : name;
  if (!isJsonObject(value)) throw refused(declared, 'a value that is not an object');
  if (typeof value['toJSON'] === 'function') {
    const json = asJson(value);
    if (isJsonObject(json)) return json;
    throw refused(declared, 'an object whose toJSON() returns no object');
  }
  const hasNone = (): boolean => members.every(({ property }) => writableValue(value, property) === undefined);
  if (typeof value['then'] === 'function' && hasNone()) throw refused(declared, PROMISE);
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

/** Returns true for a promise, also one of another library, such as a query of a database that has not been made. */
const isUnawaited = (value: unknown): boolean => isThenable(value) && !('toJSON' in value);
