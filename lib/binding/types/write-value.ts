import { randomBytes } from 'node:crypto';
import { isThenable } from '../../basics/awaitable';
import { ExactNumber, isExactNumber } from '../../body/content/exact-json';
import { asJson, isJsonObject, type JsonObject } from '../reading/json-text';
import type { Codec } from './codec';

/**
 * Converts a value to what JSON holds for it; null and undefined stay as they are. It gets any value that a handler may
 * pass.
 * @throws TypeError for a value of another shape than declared: it must not be exposed to the client.
 */
export function written(codec: Codec, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  switch (codec.kind) {
    case 'scalar':
      return codec.write ? codec.write(value) : asScalar(value, codec.name);
    case 'list':
      if (Array.isArray(value)) return value.map(one => written(codec.item, one));
      throw refused(`a ${codec.name}`, value, 'a value that is not an array');
    case 'object': {
      const object = objectOf(codec.name === 'object' ? 'an object' : codec.name, value);
      // `Object.fromEntries` takes three times the time of assignments.
      const json: Record<string, unknown> = {};
      for (const member of codec.members) {
        const own = object[member.property];
        // A method is not a value: the object has it of its class, or, as `toString`, like every object.
        if (own === undefined || typeof own === 'function') continue;
        const value = written(member.codec, own);
        // An assignment of `__proto__` would be none.
        if (member.jsonName === '__proto__') Object.defineProperty(json, '__proto__', { value, enumerable: true });
        else json[member.jsonName] = value;
      }
      return json;
    }
    case 'union': {
      const { name, tag, branches } = codec;
      const object = objectOf(name, value);
      const branch = branches.get(object[tag.property]);
      if (branch) return written(branch, object);
      throw refused(name, object, `an object whose ${tag.property} is none of ${[...branches.keys()].join(', ')}`);
    }
    case 'record':
      return Object.fromEntries(
        Object.entries(objectOf(`a ${codec.name}`, value)).map(([name, one]) => [name, written(codec.item, one)]),
      );
    case 'file':
    // A schema says what is read, and checks nothing that is written.
    case 'schema':
      return value;
  }
}

/** @param what the value is, unless it is a promise, also of another library: a query that has not been made. */
const refused = (declared: string, value: unknown, what: string): TypeError =>
  new TypeError(
    `The response is declared as ${declared}, but the handler passed ` +
      `${isThenable(value) ? 'a promise: await it first' : what}.`,
  );

function objectOf(declared: string, value: unknown): JsonObject {
  const json = isJsonObject(value) ? asJson(value) : value;
  if (isJsonObject(json) && !isThenable(json)) return json;
  throw refused(declared, json, 'a value that is not an object');
}

/** @throws TypeError for an object: a handler that passes another value than declared must not expose it. */
export function asScalar(json: unknown, name: string): unknown {
  if (typeof json === 'bigint') return new WrittenNumber(String(json));
  if (typeof json !== 'object' || json === null || isExactNumber(json)) return json;
  const text = asJson(json);
  if (typeof text !== 'object' || text === null) return text;
  throw new TypeError(`The response declares ${name} here, but the handler passed an object.`);
}

/** Marks the digits of a number in JSON text. No client knows it. */
const MARK = randomBytes(16).toString('hex');
const MARKED = new RegExp(`"${MARK}([-+.eE\\d]+)"`, 'g');

/** A number that `exactText` writes with all its digits. */
export class WrittenNumber extends ExactNumber {
  toJSON(): string {
    return MARK + this.value;
  }
}

type Replacer = (key: string, value: unknown) => unknown;

/** Does what `JSON.stringify` does, and writes exact numbers with their digits, also those that a replacer returns. */
export function exactText(value: unknown, spaces?: string | number, replacer?: Replacer): string | undefined {
  // A replacer sees the number itself: `one` is its marked text by now.
  const replace = function (this: Readonly<Record<string, unknown>>, key: string, one: unknown): unknown {
    const own = this[key];
    const replaced = replacer?.call(this, key, own instanceof WrittenNumber ? own : one);
    if (replaced instanceof WrittenNumber) return replaced.toJSON();
    return typeof replaced === 'bigint' ? `${MARK}${replaced}` : replaced;
  };
  const text = JSON.stringify(value, replacer && replace, spaces) as string | undefined;
  return text?.replace(MARKED, '$1');
}
