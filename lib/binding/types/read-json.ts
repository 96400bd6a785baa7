import { isPromise } from '../../basics/awaitable';
import { FoundValues } from '../reading/found-values';
import { isJsonObject, type JsonObject, ownValue } from '../reading/json-text';
import { INVALID, withoutMark, type Location } from '../reading/location';
import { checkLater } from './class-check';
import {
  isBlocked,
  isCollection,
  notNull,
  takesFiles,
  takesNull,
  type AnyCodec,
  type Codec,
  type CodecMember,
  type ObjectCodec,
  type ScalarCodec,
  type UnionCodec,
} from './codec';
import { keepsRules } from './rules';
import { blankOfSchema, nothingOfSchema, schemaFromJson } from './schema';
import { refuseOtherKeys } from './unknown-names';

/** The facts that decide how a missing or empty value is treated: is it required, and what does its type accept? */
export interface Expected {
  readonly codec: Codec;
  readonly required: boolean;
  readonly refusesNull?: boolean;
}

/**
 * Reads a JSON value. Readers return the value, or INVALID when they have reported a failure; a promise of that for a
 * value of an asynchronous schema.
 */
export function readJson(codec: AnyCodec, value: unknown, at: Location): unknown {
  switch (codec.kind) {
    case 'scalar': {
      const read = codec.json?.(value);
      if (read !== undefined) return keepsRules(codec, read, at);
      if (codec.read) return codec.read(value, at);
      if (codec.inner && !codec.json) return readJson(codec.inner, value, at);
      return at.failValue(value, codec.name, codec.refusal?.(value), codec.described);
    }
    case 'nullable':
      return value === null ? null : readJson(codec.inner, value, at);
    case 'list':
      if (!Array.isArray(value)) return at.failValue(value, codec.name, undefined, 'a JSON array');
      if (at.isTooDeep()) return INVALID;
      return keepsRules(
        codec,
        each(value as unknown[], at, (one, index) => readJson(codec.item, one, at.below(index))),
        at,
      );
    case 'object': {
      if (!isJsonObject(value)) return at.failValue(value, 'JSON object');
      if (at.isTooDeep()) return INVALID;
      return readObject(codec, at, found => {
        readFields(codec.fields, ({ property }) => property, readMember, found, value, at);
      });
    }
    case 'union': {
      if (!isJsonObject(value)) return at.failValue(value, 'JSON object');
      const { jsonName } = codec.tag;
      return readBranch(codec, readRequired(codec.tag, ownValue(value, jsonName), at.below(jsonName)), branch =>
        readJson(branch, value, at),
      );
    }
    case 'record': {
      if (!isJsonObject(value)) return at.failValue(value, 'JSON object');
      const keys = Object.keys(value);
      // A name in a claim or a cookie is its content.
      const below = (key: string): Location => (at.isSecret ? at : at.below(key));
      return readRecord(keys, at, key => readJson(codec.item, ownValue(value, key), below(key)));
    }
    case 'file':
      return failNoFile(at);
    case 'schema':
      return schemaFromJson(codec, value, at);
  }
}

const readRequired = (member: CodecMember, value: unknown, at: Location): unknown =>
  value === undefined ? failNoTag(member, at) : readJson(member.codec, value, at);

/** Reports a missing tag: its type names the values that it may have. */
export function failNoTag({ codec }: CodecMember, at: Location): typeof INVALID {
  const { described = '' } = codec as ScalarCodec;
  return at.failMissing(`A value is required, ${described}.`);
}

/** Reads a value of the class that the tag names. @param tag INVALID if it names none, which has been reported. */
export function readBranch({ branches }: UnionCodec, tag: unknown, read: (branch: ObjectCodec) => unknown): unknown {
  const branch = branches.get(tag);
  return branch ? read(branch) : INVALID;
}

export const failNoFile = (at: Location): typeof INVALID => at.fail('file-expected', 'A file is expected.');

/** Reads all items, even after a failure, so that every failure is reported. */
export function each<V>(values: readonly V[], at: Location, read: (value: V, index: number) => unknown): unknown {
  const count = values.length;
  if (at.isTooLong(count)) return INVALID;
  const items: unknown[] = [];
  for (let index = 0; index < count; index++) {
    const item = read(values[index] as V, index);
    if (isPromise(item))
      at.failures.later(item, known => {
        items[index] = withoutMark(known);
      });
    items.push(withoutMark(item));
  }
  return items;
}

/** Makes an object of values with these names, which has no prototype: `__proto__` is a name, too. */
export function readRecord(keys: readonly string[], at: Location, read: (key: string) => unknown): unknown {
  if (at.isTooDeep() || at.isTooLong(keys.length)) return INVALID;
  const found = new FoundValues(Object.create(null) as object, at.failures);
  for (const key of keys) found.put(key, read(key));
  return found.target;
}

/** Makes an object of the properties that are found. */
export function readObject(codec: ObjectCodec, at: Location, read: (found: FoundValues) => void): object {
  const found = new FoundValues(codec.create(), at.failures);
  read(found);
  codec.complete?.(found.target);
  checkLater(codec, found.target, at);
  return found.target;
}

/**
 * Reads the fields of a JSON object, one after the other.
 * @param keyOf the key that the value of a member is put under.
 * @param read reads a value, undefined if the object lacks it. A valid scalar is not passed to it.
 */
export function readFields<M extends CodecMember>(
  members: readonly M[],
  keyOf: (member: M) => string | number,
  read: (member: M, value: unknown, at: Location) => unknown,
  found: FoundValues,
  json: JsonObject,
  at: Location,
): void {
  for (const member of members) {
    const { codec, jsonName, dontBind } = member;
    const sent = ownValue(json, jsonName);
    // The way of most values, for which no location is made.
    const isPlain = codec.kind === 'scalar' && sent !== undefined && dontBind.length === 0 && !codec.rules;
    const value = isPlain ? codec.json?.(sent) : undefined;
    found.put(keyOf(member), value === undefined ? read(member, sent, at.below(jsonName)) : value);
  }
  refuseOtherKeys(members, json, at);
}

/** Reads a property of a nested object. */
function readMember(member: CodecMember, value: unknown, at: Location): unknown {
  if (isBlocked(member, at)) return readNothing(member, at);
  if (value !== undefined) return orNothing(readOptionalJson(member, value, at), member, at);
  // JSON in a form field cannot hold files. As in any form, files that were not sent are an empty collection.
  if (member.required && isCollection(member.codec) && takesFiles(member.codec)) return emptyList(member.codec, at);
  return member.jsonRequired ? at.failMissingInJson() : readNothing(member, at);
}

/** Reads JSON for a property. For an optional property `null` is a missing value, unless the type accepts null. */
export function readOptionalJson(expected: Expected, value: unknown, at: Location): unknown {
  const { codec, required, refusesNull = false } = expected;
  if (value !== null || required || refusesNull) return readJson(codec, value, at);
  if (codec.kind === 'schema') return blankOfSchema(codec, null);
  return takesNull(codec) ? null : undefined;
}

export const orNothing = (value: unknown, expected: Expected, at: Location): unknown =>
  value === undefined ? readNothing(expected, at) : value;

/**
 * Handles a missing value: undefined if it is optional, otherwise the schema's own value for it, otherwise a failure.
 * @param detail the message for a missing value here.
 */
export function readNothing({ codec, required }: Expected, at: Location, detail?: string): unknown {
  if (!required) return undefined;
  const type = notNull(codec);
  if (type.kind === 'schema') return nothingOfSchema(type, at, detail);
  return type.kind === 'scalar' && type.whenMissing !== undefined ? type.whenMissing : at.failMissing(detail);
}

/** Makes a collection of nothing, where names have no other way to send one. */
export function emptyList(codec: Codec, at: Location): unknown {
  const type = notNull(codec);
  return type.kind === 'list' ? keepsRules(type, [], at) : [];
}
