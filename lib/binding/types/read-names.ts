import { jsonInText, jsonLike } from '../reading/json-text';
import { INVALID, type Location } from '../reading/location';
import { JsonPart, NameTree, UNREADABLE, type Sent } from '../reading/name-tree';
import { isReadByName, membersOf, type Codec, type CodecOfParts, type FileCodec } from './codec';
import type { ListCodec, ScalarCodec } from './codec';
import { failNoFile, listOf, readJson, readOptionalJson, readParts } from './read-json';
import type { Expected, PartsReader } from './read-json';
import { keepsRules } from './rules';
import { inArray, isSchemaSent, schemaFromNames } from './schema';

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
  if (values.includes(UNREADABLE)) return INVALID;
  const [only] = values;
  if (only instanceof JsonPart && values.length === 1 && !isSentBelow(codec, tree, at))
    return jsonInText(only.text, at, (value, inside) => readOptionalJson(expected, asItems(codec, value), inside));
  const isNothing = values.length === 0 || (!required && only === '' && values.length === 1);
  // The text of an object is its JSON, and so is that of null; for another type, it may be a text like any other.
  const mayBeNull = codec.notNull && isReadByName(codec) && codec.kind !== 'schema';
  if (mayBeNull && tree.onlyText?.trim() === 'null' && !isSentBelow(codec, tree, at)) return null;
  switch (codec.kind) {
    case 'scalar':
      return isNothing && (values.length === 0 || !codec.takesAnyText) ? undefined : readTexts(codec, values, at);
    case 'file':
      return isNothing ? undefined : fileOf(values, at, codec);
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
        const read = readParts(codec, tree, at, inNames);
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

const inNames: PartsReader = {
  field(field, tree: NameTree, at) {
    const below = tree.at(field.bindName);
    return below && readNames(field, below, at.below(field.bindName));
  },
  entries: (tree: NameTree) => tree.below(true).map(one => [one.key, one] as const),
  item: (codec, tree, at) => readItem(codec, tree as NameTree, at),
};

function readItem(codec: Codec, tree: NameTree, at: Location): unknown {
  const read = readNames({ codec, required: true }, tree, at);
  return read === undefined ? at.failMissing() : read;
}

function readItems(codec: ListCodec, tree: NameTree, at: Location, required: boolean): unknown {
  const { item } = codec;
  let items = tree.items(at);
  if (items === INVALID) return INVALID;
  if (hasNameless(item, tree)) return tree.failNameless(at);
  if (!required && (tree.isBlank || items.length === 0)) return undefined;
  // One text may hold several items, if no other item was sent.
  const text = tree.onlyText;
  if (text !== undefined && !tree.below().some(one => one.isItem && isSent(item, one, at))) {
    const json = jsonLike(text);
    if (json !== undefined) return readJson(codec, Array.isArray(json) ? json : [json], at.asJson());
    if (isReadByName(item) && item.kind !== 'schema' && !item.notNull) return at.failValue(text, 'JSON text');
    items = NameTree.itemsIn(text, at);
  }
  // Without an index in the name that was sent, the failure of a single item is reported under that.
  const isOne = items.length === 1 && items[0]?.[1].key === '';
  return listOf(codec, items, at, ([index, one]) => readItem(item, one, isOne ? at : at.below(index)));
}

/** Returns true if names below a list do not say which item they belong to. Undeclared ones do not count. */
function hasNameless(item: Codec, tree: NameTree): boolean {
  const others = tree.below().filter(one => !one.isItem);
  if (others.length === 0 || !isReadByName(item)) return false;
  const fields = membersOf(item);
  return fields.length === 0 || [tree, ...others].some(one => fields.some(({ bindName }) => one.at(bindName)));
}

/** Returns true if a value was sent, as one text or file or under names below. */
export const isSent = (codec: Codec, tree: NameTree, at: Location): boolean =>
  tree.values.length > 0 || isSentBelow(codec, tree, at);

/** Returns true if one of the type's own names was sent, at any depth. Undeclared names do not count. */
function isSentBelow(codec: Codec, tree: NameTree, at: Location): boolean {
  if (tree.isLeaf) return false;
  if (codec.kind === 'list') return tree.below().some(one => one.isItem) || hasNameless(codec.item, tree);
  if (codec.kind === 'schema') return isSchemaSent(codec, tree);
  return (
    codec.kind === 'record' ||
    membersOf(codec).some(({ codec: own, bindName, dontBind }) => {
      const below = dontBind.includes(at.source) ? undefined : tree.at(bindName);
      return below !== undefined && isSent(own, below, at);
    })
  );
}

const isFile = (sent: Sent): boolean => typeof sent === 'object' && !(sent instanceof JsonPart);

function fileOf(sent: readonly Sent[], at: Location, codec: FileCodec): unknown {
  const count = sent.length;
  if (!sent.every(isFile)) return failNoFile(at);
  return count === 1
    ? keepsRules(codec, sent[0], at)
    : at.fail('several-files', `There are ${count} files where one is expected.`, { count });
}

/** Reads one text, or several that are joined. The text of an object is its JSON. */
function readTexts(codec: ScalarCodec | CodecOfParts, sent: readonly Sent[], at: Location): unknown {
  if (sent.some(isFile)) return at.fail('file-unexpected', 'Send text here, not a file.');
  const isScalar = codec.kind === 'scalar';
  if (sent.length > 1 && !(isScalar && codec.isJoined))
    return at.fail('several-values', `There are ${sent.length} values where one is expected.`, {
      count: sent.length,
      expected: isScalar ? codec.name : 'JSON object',
    });
  const text = sent.map(one => (one instanceof JsonPart ? one.text : (one as string))).join(',');
  if (isScalar && codec.text) {
    const read = codec.text(text);
    return read === undefined
      ? at.failValue(text, codec.name, undefined, codec.described)
      : keepsRules(codec, read, at);
  }
  // A converter reads JSON; text without brackets is a string of it.
  if (isScalar && !/^\s*[[{]/.test(text)) return readJson(codec, text, at);
  return jsonInText(text, at, (value, inside) => readJson(codec, value, inside));
}
