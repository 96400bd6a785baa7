import { isPromise } from '../../basics/awaitable';
import { INVALID, type Failures, type Location } from '../reading/failures';
import { isJsonObject, jsonInText, jsonLike, type JsonObject } from '../reading/json-text';
import { JsonPart, NameTree, type Sent } from '../reading/name-tree';
import { isReadByName, membersOf, objectsOf, takesFiles, takesNull } from './codec';
import type { ClassCheck, Codec, CodecOfParts, ListCodec, Member, ObjectCodec } from './codec';
import { keepsRules } from './rules';
import { inArray, isSchemaSent, nothingOfSchema, schemaFromJson, schemaFromNames } from './schema';

/** The facts that decide how a missing or empty value is treated: is it required, and what does its type accept? */
export type Expected = Pick<Member, 'codec' | 'required'> & Partial<Pick<Member, 'refusesNull'>>;

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
      return codec.read ? codec.read(value, at) : at.failValue(value, codec.described);
    }
    case 'list':
      if (!Array.isArray(value)) return at.failValue(value, 'a JSON array');
      return listOf(codec, value as unknown[], at, (one, index) => readJson(codec.item, one, at.below(index)));
    case 'object':
    case 'union':
    case 'record':
      return isJsonObject(value) ? readParts(codec, value, at) : at.failValue(value, 'a JSON object');
    case 'file':
      return failNoFile(at);
    case 'schema':
      return schemaFromJson(codec, value, at);
  }
}

const failNoFile = (at: Location): typeof INVALID => at.fail('invalid', 'A file is expected.');

/** Reads all items, even after a failure, so that every failure is reported. */
function listOf<V>(codec: ListCodec, sent: readonly V[], at: Location, read: (one: V, index: number) => unknown) {
  if (at.isTooLarge(sent.length)) return INVALID;
  const items: unknown[] = [];
  for (const one of sent) {
    const item = read(one, items.length);
    if (isPromise(item)) setLater(items, items.length, item, at.failures);
    items.push(item === INVALID ? undefined : item);
  }
  return codec.rules ? keepsRules(codec, items, at) : items;
}

/** What was sent for an object: JSON, where the location says so, or else names. */
type SentParts = JsonObject | NameTree;

/** Reads an object, of which each part that was sent is read. */
function readParts(codec: CodecOfParts, sent: SentParts, at: Location): unknown {
  if (codec.kind === 'union') {
    const branch = codec.branches.get(readPart(codec.tag, sent, at) ?? failNoTag(codec.tag, at));
    return branch ? readParts(branch, sent, at) : INVALID;
  }
  if (codec.kind === 'record') {
    const entries = sent instanceof NameTree ? sent.below().map(one => [one.key, one] as const) : Object.entries(sent);
    if (at.isTooLarge(entries.length)) return INVALID;
    // It has no prototype: `__proto__` is a name, too.
    const record = Object.create(null) as object;
    for (const [name, value] of entries)
      // A name in a claim or a cookie is its content.
      setOn(record, name, readItem(codec.item, value, at.isSecret ? at : at.below(name)), at.failures);
    return record;
  }
  if (at.isTooLarge()) return INVALID;
  const object = codec.create();
  for (const field of codec.members) {
    const value = field.dontBind.includes(at.source) ? undefined : readPart(field, sent, at);
    setOn(object, field.property, value === undefined ? readAbsent(field, at) : value, at.failures);
  }
  codec.complete?.(object);
  if (codec.check) checkLater(codec.check, codec, object, at);
  if (at.isJson && at.failures.refusesUnknown) refuseOtherNames(codec.members, sent, at);
  return object;
}

/** Returns undefined if nothing was sent for the field. */
function readPart(field: Member, sent: SentParts, at: Location): unknown {
  if (at.isJson) return readField(field, sent as JsonObject, at);
  const below = (sent as NameTree).at(field.bindName);
  return below && readNames(field, below, at.below(field.bindName));
}

/** Reads an item of a list, or a value of a record. */
function readItem(codec: Codec, sent: unknown, at: Location): unknown {
  if (!(sent instanceof NameTree)) return readJson(codec, sent, at);
  if (sent.hasSpellings) {
    sent.take(true);
    return at.fail('several-values', 'This name was sent in two spellings, in lower and upper case.');
  }
  const read = readNames({ codec, required: true }, sent, at);
  return read === undefined ? at.failMissing() : read;
}

/** Reports a missing tag: its type names the values that it may have. */
const failNoTag = (tag: Member, at: Location): typeof INVALID =>
  at.property(tag).failMissing(`A value is required, ${tag.codec.described ?? ''}.`);

/** Reads the value that a JSON object has for a field; undefined if it has none. */
export function readField(field: Member, json: JsonObject, at: Location): unknown {
  const { codec, jsonName, jsonRequired } = field;
  // An inherited one, such as `constructor`, is none of the client's.
  const sent = Object.hasOwn(json, jsonName) ? json[jsonName] : undefined;
  if (sent === undefined)
    return jsonRequired ? at.below(jsonName).failMissing('The JSON body must have this value.') : undefined;
  // The way of most values, for which no location is made.
  const plain = codec.kind === 'scalar' && !codec.rules ? codec.json?.(sent) : undefined;
  return plain === undefined ? readOptionalJson(field, sent, at.below(jsonName)) : plain;
}

/** Refuses the names of a JSON object that no field takes. */
export function refuseOtherNames(fields: readonly Member[], json: object, at: Location): void {
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
  return value !== null || required || refusesNull || takesNull(codec) ? readJson(codec, value, at) : undefined;
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
  const fail = (name: string, reason: string): unknown => failBelow(at, partsOfPath(name), codec, reason);
  at.failures.whenKnown(() => (at.isInvalid ? undefined : check(dto, fail)));
}

export const partsOfPath = (path: string): string[] => path.split(/[.[\]]+/).filter(part => part !== '');

/** Reports a failure of the application below a value, under the client's names: `unitPrice` may be `unit_price`. */
export function failBelow(at: Location, path: readonly string[], codec: Codec | undefined, reason: string): unknown {
  let [here, type] = [at, codec];
  for (const part of path) {
    const member = type && membersOf(type).find(({ property }) => property === part);
    const isIndex = type?.kind !== 'record' && /^\d+$/.test(part);
    here = member ? here.property(member) : here.below(isIndex ? Number(part) : part);
    type = type?.kind === 'list' || type?.kind === 'record' ? type.item : member?.codec;
  }
  return here.fail('application', reason);
}

/**
 * Reads what was sent under one name and below it: `name`, `name.child`, `name[0].field`. A value of JSON counts where
 * none of the type's own names was sent below; an undeclared name must not hide it.
 * @returns undefined if nothing was sent that counts. That is empty text for a value that may be missing, too, unless
 * the type takes any text.
 */
export function readNames(expected: Expected, tree: NameTree, at: Location): unknown {
  const { codec, required } = expected;
  const { values } = tree;
  tree.take();
  const only = values[0];
  if (only instanceof JsonPart && values.length === 1 && !isSentBelow(codec, tree, at))
    return jsonInText(only.text, at, (value, inside) => readOptionalJson(expected, asItems(codec, value), inside));
  const isNothing = values.length === 0 || (!required && only === '' && values.length === 1);
  // The text of an object is its JSON, and so is that of null; for another type, it may be a text like any other.
  const mayBeNull = codec.notNull && isReadByName(codec) && codec.kind !== 'schema';
  if (mayBeNull && tree.onlyText?.trim() === 'null' && !isSentBelow(codec, tree, at)) return null;
  if (codec.text && codec.kind !== 'scalar') return isNothing ? undefined : readTexts(codec, values, at);
  switch (codec.kind) {
    case 'scalar':
      return isNothing && (values.length === 0 || !codec.takesAnyText) ? undefined : readTexts(codec, values, at);
    case 'file':
      if (isNothing) return undefined;
      if (!values.every(isFile)) return failNoFile(at);
      if (values.length === 1) return keepsRules(codec, only, at);
      return failSeveral('files', values, at);
    case 'list':
      return readItems(codec, tree, at, required);
    case 'schema':
      tree.take(true);
      return schemaFromNames(codec, tree, at, required);
    case 'object':
    case 'union':
    case 'record':
      if (values.some(isFile)) return readTexts(codec, values, at);
      if ((required && isNothing) || isSentBelow(codec, tree, at)) {
        const read = readParts(codec, tree, at);
        // Which names there are is not known without the tag.
        if (read === INVALID) tree.take(true);
        return read;
      }
      return isNothing ? undefined : readTexts(codec, values, at);
  }
}

/** One JSON value may be a collection of one, as one text may. */
function asItems(codec: Codec, value: unknown): unknown {
  if (codec.kind === 'schema') return inArray(codec.json, value);
  return codec.kind === 'list' && value !== null && !Array.isArray(value) ? [value] : value;
}

function readItems(codec: ListCodec, tree: NameTree, at: Location, required: boolean): unknown {
  const { item } = codec;
  if (isOfNoItem(item, tree, at))
    return at.fail('invalid', 'The names below do not say of which item they are. Number the items from [0] on.');
  let items = tree.items(at);
  if (items === INVALID) return INVALID;
  if (!required && (tree.isBlank || items.length === 0)) return undefined;
  // One text may hold several items, if no other item was sent.
  const text = tree.onlyText;
  if (text !== undefined && !tree.below().some(one => one.isItem && isSent(item, one, at))) {
    const json = jsonLike(text);
    if (json !== undefined) return readJson(codec, Array.isArray(json) ? json : [json], at.asJson());
    if (isReadByName(item) && item.kind !== 'schema' && !item.notNull) return at.failValue(text, 'a JSON text');
    items = NameTree.itemsIn(text, at);
  }
  // Without an index in the name that was sent, the failure of a single item is reported under that.
  const isOne = items.length === 1 && items[0]?.[1].key === '';
  return listOf(codec, items, at, ([index, one]) => readItem(item, one, isOne ? at : at.below(index)));
}

/** Returns true if a value was sent, as one text or file or under names below. */
export const isSent = (codec: Codec, tree: NameTree, at: Location): boolean =>
  tree.values.length > 0 || isSentBelow(codec, tree, at);

/** Returns true if one of the type's own names was sent, at any depth. Undeclared names do not count. */
function isSentBelow(codec: Codec, tree: NameTree, at: Location): boolean {
  if (tree.isLeaf || codec.text) return false;
  if (codec.kind === 'list') return tree.below().some(one => one.isItem) || isOfNoItem(codec.item, tree, at);
  if (codec.kind === 'schema') return isSchemaSent(codec, tree);
  return (
    codec.kind === 'record' ||
    membersOf(codec).some(({ codec: own, bindName, dontBind }) => {
      const below = dontBind.includes(at.source) ? undefined : tree.at(bindName);
      return below !== undefined && isSent(own, below, at);
    })
  );
}

/** Returns true for `items.sku`, and for `items[].sku`: two items sent like that would be one, with joined texts. */
const isOfNoItem = (item: Codec, tree: NameTree, at: Location): boolean =>
  tree.below().some(one => !one.key && !one.isLeaf) || (objectsOf(item).length > 0 && isSentBelow(item, tree, at));

const isFile = (sent: Sent): boolean => typeof sent === 'object' && !(sent instanceof JsonPart);

const failSeveral = (what: 'files' | 'values', { length }: readonly Sent[], at: Location): typeof INVALID =>
  at.fail('several-values', `There are ${length} ${what} where one is expected.`);

/** Reads one text, or several that are joined. The text of an object is its JSON. */
function readTexts(codec: Codec, sent: readonly Sent[], at: Location): unknown {
  if (sent.some(isFile)) return at.fail('invalid', 'Send text here, not a file.');
  const isScalar = codec.kind === 'scalar';
  if (sent.length > 1 && !(isScalar && codec.isJoined)) return failSeveral('values', sent, at);
  const text = sent.map(one => (one instanceof JsonPart ? one.text : (one as string))).join(',');
  if (codec.text) {
    const read = codec.text(text);
    if (read === undefined) return at.failValue(text, codec.described ?? codec.name);
    return isScalar ? keepsRules(codec, read, at) : read;
  }
  // A converter reads JSON; text without brackets is a string of it.
  if (isScalar && !/^\s*[[{]/.test(text)) return readJson(codec, text, at);
  return jsonInText(text, at, (value, inside) => readJson(codec, value, inside));
}
