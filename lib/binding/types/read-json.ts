import { isPromise } from '../../basics/awaitable';
import type { Failures } from '../reading/failures';
import { isJsonObject, type JsonObject } from '../reading/json-text';
import { INVALID, type Location } from '../reading/location';
import { membersOf, takesFiles } from './codec';
import type { ClassCheck, Codec, CodecOfParts, ListCodec, Member, ObjectCodec, ScalarCodec } from './codec';
import { keepsRules } from './rules';
import { blankOfSchema, nothingOfSchema, schemaFromJson } from './schema';

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
export function readJson(codec: Codec, value: unknown, at: Location): unknown {
  if (value === null && codec.notNull) return null;
  switch (codec.kind) {
    case 'scalar': {
      const read = codec.json?.(value);
      if (read !== undefined) return codec.rules ? keepsRules(codec, read, at) : read;
      if (codec.read) return codec.read(value, at);
      if (codec.inner) return readJson(codec.inner, value, at);
      return at.failValue(value, codec.name, undefined, codec.described);
    }
    case 'list':
      if (!Array.isArray(value)) return at.failValue(value, codec.name, undefined, 'a JSON array');
      return listOf(codec, value as unknown[], at, (one, index) => readJson(codec.item, one, at.below(index)));
    case 'object':
    case 'union':
    case 'record':
      return isJsonObject(value) ? readParts(codec, value, at, inJson) : at.failValue(value, 'JSON object');
    case 'file':
      return failNoFile(at);
    case 'schema':
      return schemaFromJson(codec, value, at);
  }
}

export const failNoFile = (at: Location): typeof INVALID => at.fail('file-expected', 'A file is expected.');

/** Reads all items, even after a failure, so that every failure is reported. */
export function listOf<V>(
  codec: ListCodec,
  sent: readonly V[],
  at: Location,
  read: (one: V, index: number) => unknown,
) {
  if (at.isTooLarge(sent.length)) return INVALID;
  const items: unknown[] = [];
  for (const one of sent) {
    const item = read(one, items.length);
    if (isPromise(item)) setLater(items, items.length, item, at.failures);
    items.push(item === INVALID ? undefined : item);
  }
  return codec.rules ? keepsRules(codec, items, at) : items;
}

/** How the parts of an object are found: in JSON, or among names. */
export interface PartsReader {
  /** Returns undefined if nothing was sent for the field. */
  field(field: Member, sent: object, at: Location): unknown;
  /** Returns what was sent for a record, by its names. */
  entries(sent: object): readonly (readonly [name: string, sent: unknown])[];
  item(codec: Codec, sent: unknown, at: Location): unknown;
}

const inJson: PartsReader = { field: readField, entries: Object.entries, item: readJson };

/** Reads an object, of which each part that was sent is read. */
export function readParts(codec: CodecOfParts, sent: object, at: Location, parts: PartsReader): unknown {
  if (codec.kind === 'union') {
    const branch = codec.branches.get(parts.field(codec.tag, sent, at) ?? failNoTag(codec.tag, at));
    return branch ? readParts(branch, sent, at, parts) : INVALID;
  }
  if (codec.kind === 'record') {
    const entries = parts.entries(sent);
    if (at.isTooLarge(entries.length)) return INVALID;
    // It has no prototype: `__proto__` is a name, too.
    const record = Object.create(null) as object;
    for (const [name, value] of entries)
      // A name in a claim or a cookie is its content.
      setOn(record, name, parts.item(codec.item, value, at.isSecret ? at : at.below(name)), at.failures);
    return record;
  }
  if (at.isTooLarge()) return INVALID;
  const object = codec.create();
  for (const field of codec.members) {
    const value = field.dontBind.includes(at.source) ? undefined : parts.field(field, sent, at);
    setOn(object, field.property, value === undefined ? readAbsent(field, at) : value, at.failures);
  }
  codec.complete?.(object);
  if (codec.check) checkLater(codec.check, codec, object, at);
  if (at.isJson && at.failures.refusesUnknown) refuseOtherNames(codec.members, sent as JsonObject, at);
  return object;
}

/** Reports a missing tag: its type names the values that it may have. */
function failNoTag(tag: Member, at: Location): typeof INVALID {
  const { described = '' } = tag.codec as ScalarCodec;
  return at.property(tag).failMissing(`A value is required, ${described}.`);
}

/** Reads the value that a JSON object has for a field; undefined if it has none. */
export function readField(field: Member, json: JsonObject, at: Location): unknown {
  const { codec, jsonName, jsonRequired } = field;
  // An inherited one, such as `constructor`, is none of the client's.
  const sent = Object.hasOwn(json, jsonName) ? json[jsonName] : undefined;
  if (sent === undefined)
    return jsonRequired ? at.below(jsonName).fail('missing-in-json', 'The JSON body must have this value.') : undefined;
  // The way of most values, for which no location is made.
  const plain = codec.kind === 'scalar' && !codec.rules ? codec.json?.(sent) : undefined;
  return plain === undefined ? readOptionalJson(field, sent, at.below(jsonName)) : plain;
}

/** Refuses the names of a JSON object that no field takes. */
export function refuseOtherNames(fields: readonly Member[], json: JsonObject, at: Location): void {
  const taken = new Set(fields.filter(({ dontBind }) => !dontBind.includes(at.source)).map(({ jsonName }) => jsonName));
  // A name in a claim or a cookie is its content.
  for (const key of Object.keys(json)) if (!taken.has(key)) failUnknown(at.isSecret ? at : at.below(key));
}

export const failUnknown = (at: Location): unknown => at.fail('unknown', 'No property takes this name.');

function readAbsent(field: Member, at: Location): unknown {
  const { codec, required, dontBind } = field;
  if (!required) return undefined;
  const here = at.property(field);
  // Names have no other way to send an empty collection, and JSON in a form field none to send files.
  const mayBeEmpty = codec.kind === 'list' && (at.isJson ? takesFiles(codec) : !dontBind.includes(at.source));
  return mayBeEmpty ? keepsRules(codec, [], here) : readNothing(field, here);
}

/** Sets a value if there is one, now or when it is known. */
export function setOn(target: object, key: string, value: unknown, failures: Failures): void {
  if (value === undefined || value === INVALID) return;
  if (isPromise(value)) setLater(target, key, value, failures);
  else (target as Record<string, unknown>)[key] = value;
}

/** A function of its own: the closure would cost each value that is known. */
function setLater(target: object, key: string | number, value: Promise<unknown>, failures: Failures): void {
  failures.later(value, known => {
    const value = known === INVALID ? undefined : known;
    if (value !== undefined || Array.isArray(target)) (target as Record<string | number, unknown>)[key] = value;
  });
}

/** Reads JSON for a property. For an optional property `null` is a missing value, unless the type accepts null. */
export function readOptionalJson(expected: Expected, value: unknown, at: Location): unknown {
  const { codec, required, refusesNull = false } = expected;
  if (value !== null || required || refusesNull) return readJson(codec, value, at);
  if (codec.notNull) return null;
  return codec.kind === 'schema' ? blankOfSchema(codec, null) : undefined;
}

/**
 * Handles a missing value: undefined if it is optional, otherwise the schema's own value for it, otherwise a failure.
 * @param detail the message for a missing value here.
 */
export function readNothing({ codec, required }: Expected, at: Location, detail?: string): unknown {
  if (!required) return undefined;
  if (codec.kind === 'schema') return nothingOfSchema(codec, at, detail);
  return codec.kind === 'scalar' && codec.whenMissing !== undefined ? codec.whenMissing : at.failMissing(detail);
}

/** Has a nested dto checked when all values are known, if it is valid then, and so are those in it. */
function checkLater(check: ClassCheck, codec: ObjectCodec, dto: object, at: Location): void {
  at.failures.whenKnown(() =>
    at.isInvalid
      ? undefined
      : check(dto, (name, reason) => {
          failBelow(at, partsOfPath(name), codec, reason);
        }),
  );
}

export const partsOfPath = (path: string): string[] => path.split(/[.[\]]+/).filter(part => part !== '');

/**
 * Reports a failure of the application below a value, under the client's names: `items[0].unitPrice` may be
 * `unit_price` in its JSON.
 */
export function failBelow(at: Location, path: readonly string[], codec: Codec | undefined, reason: string): void {
  let [here, type] = [at, codec];
  for (const part of path) {
    const member = type && membersOf(type).find(({ property }) => property === part);
    const isIndex = type?.kind !== 'record' && /^\d+$/.test(part);
    here = member ? here.property(member) : here.below(isIndex ? Number(part) : part);
    type = type?.kind === 'list' || type?.kind === 'record' ? type.item : member?.codec;
  }
  here.fail('application', reason);
}
