import { isJsonText, jsonInText, splitAtCommas } from '../reading/json-text';
import { INVALID, type Location } from '../reading/location';
import { isIndex, NameTree, type IndexedItem, type Sent } from '../reading/name-tree';
import { isBlocked, isCollection, mayTakeFiles, notNull, objectsOf } from './codec';
import type { AnyCodec, Codec, FileCodec, ListCodec, ScalarCodec } from './codec';
import { each, emptyList, failNoFile, failNoTag, finished, readJson, recordOf, setField } from './read-json';
import type { Expected } from './read-json';
import { keepsRules } from './rules';
import { blankOfSchema, failNameless, isSchemaSent, schemaFromNames, schemaFromSent } from './schema';

/**
 * Reads what was sent under a name or below it; undefined if nothing was. A required collection without values is
 * empty: a form has no other way to send an empty one.
 */
export function readNamed({ codec, required }: Expected, tree: NameTree, at: Location): unknown {
  if (tree.isEmpty) return required ? emptyList(codec, at) : undefined;
  const { values } = tree.take();
  const type = notNull(codec);
  const { kind } = type;
  if (kind === 'list') for (const one of tree.below()) if (isIndex(one.key)) one.take();
  if (kind === 'schema') tree.takeAll();
  // An undeclared name below must not hide a value of this name.
  const isBelow = values.length === 0 || (!tree.isLeaf && isSentBelow(codec, tree, at));
  if (kind !== 'scalar' && kind !== 'file' && isBelow) {
    const mayBeEmpty = kind === 'list' || (kind === 'schema' && tree.isArray);
    if (mayBeEmpty && !required && tree.holdsEmptyText) return undefined;
    const read = !mayTakeFiles(codec) && values.some(isFile) ? failFile(at) : readNames(codec, tree, at, required);
    // Why the names below are not read has been reported.
    if (read === INVALID && !(kind === 'list' && type.rules)) tree.takeAll();
    return read;
  }
  if (values.length === 0) return undefined;
  const isBlank = !required && values.length === 1 && values[0] === '';
  return isBlank ? readBlank(codec, at) : readText(codec, values, tree.isOneValue, at);
}

/**
 * Empty text for a value that may be missing is the empty string for a string, and a missing value of another type; a
 * schema decides what it is.
 */
function readBlank(codec: Codec, at: Location): unknown {
  const type = notNull(codec);
  if (type.kind === 'schema') return blankOfSchema(type, '');
  return type.kind === 'scalar' && type.takesAnyText ? readText(type, [''], true, at) : undefined;
}

/**
 * Reads the names below one name: `parent.child`, `items[0].field`.
 * @returns undefined if no value is required and none of the type's own names was sent.
 */
export function readNames(codec: AnyCodec, tree: NameTree, at: Location, required: boolean): unknown {
  switch (codec.kind) {
    case 'nullable':
      return readNames(codec.inner, tree, at, required);
    case 'list':
      return readItems(codec, tree, at, required);
    case 'object': {
      if (!required && !isSentBelow(codec, tree, at)) return undefined;
      if (at.isTooDeep()) return INVALID;
      const object = codec.create();
      for (const field of codec.fields) {
        const below = isBlocked(field, at) ? undefined : tree.at(field.bindName);
        setField(object, field, below && readNamed(field, below, at.below(field.bindName)), at);
      }
      return finished(codec, object, at);
    }
    case 'union': {
      if (!required && !isSentBelow(codec, tree, at)) return undefined;
      const { bindName } = codec.tag;
      const below = tree.at(bindName);
      const tag = (below && readNamed(codec.tag, below, at.below(bindName))) ?? failNoTag(codec, at);
      const branch = codec.branches.get(tag);
      if (branch) return readNames(branch, tree, at, true);
      tree.takeAll();
      return INVALID;
    }
    case 'record': {
      if (!required && tree.isLeaf) return undefined;
      const item: Expected = { codec: codec.item, required: true };
      const read = (key: string): unknown => {
        const [here, below] = [at.below(key), tree.child(key)];
        return (below && readNamed(item, below, here)) ?? here.failMissing();
      };
      return recordOf(
        tree.below().map(({ key }) => key),
        at,
        read,
      );
    }
    case 'schema':
      tree.takeAll();
      return schemaFromNames(codec, tree, at, required);
    case 'scalar':
    case 'file':
      return undefined;
  }
}

function readItems(codec: ListCodec, tree: NameTree, at: Location, required: boolean): unknown {
  const { item } = codec;
  const indexed = tree.indexed(at);
  if (indexed === INVALID || at.isTooDeep()) return INVALID;
  if (hasNameless(item, tree)) return failNameless(at);
  if (!required && tree.values.length === 0 && !isSentBelow(codec, tree, at)) return undefined;
  if (indexed.length === 0) return readText(codec, tree.unindexed, tree.isOneValue, at);
  const items = [
    ...tree.unindexed.map((value, index): IndexedItem => [index, NameTree.leaf([value])]),
    ...indexed.flatMap(one => (isCollection(item) ? [one] : oneByOne(one))),
  ];
  const read = each(items, at, ([index, one]) => {
    const here = at.below(index);
    const value = readNamed({ codec: item, required: true }, one, here);
    return value === undefined ? here.failMissing() : value;
  });
  return keepsRules(codec, read, at);
}

/** Splits two values under one index: they are two items. */
function oneByOne([index, tree]: IndexedItem): IndexedItem[] {
  return tree.isLeaf ? tree.values.map(value => [index, NameTree.leaf([value])]) : [[index, tree]];
}

/** Returns true if a value was sent, as one text or file or under names below. */
export const isSent = (codec: Codec, tree: NameTree, at: Location): boolean =>
  tree.values.length > 0 || isSentBelow(codec, tree, at);

/** Returns true if one of the type's own names was sent, at any depth. Undeclared names do not count. */
function isSentBelow(codec: Codec, tree: NameTree, at: Location): boolean {
  const type = notNull(codec);
  switch (type.kind) {
    case 'list':
      return hasNameless(type.item, tree) || tree.below().some(({ key }) => isIndex(key));
    case 'object':
    case 'union':
      return objectsOf(type)
        .flatMap(({ fields }) => fields)
        .some(field => {
          const below = isBlocked(field, at) ? undefined : tree.at(field.bindName);
          return below !== undefined && isSent(field.codec, below, at);
        });
    case 'record':
      return !tree.isLeaf;
    case 'schema':
      return isSchemaSent(type, tree);
    case 'scalar':
    case 'file':
      return false;
  }
}

/**
 * Returns true for `items[].sku`, `items.sku` and `items[x].sku`, which do not say which item is meant. The names of a
 * schema and of a record are unknown.
 */
function hasNameless(item: Codec, tree: NameTree): boolean {
  if (tree.isLeaf) return false;
  const others = tree.below().filter(({ key }) => !isIndex(key));
  const { kind } = notNull(item);
  if (tree.hasNameless || ((kind === 'schema' || kind === 'record') && others.length > 0)) return true;
  const fields = objectsOf(item).flatMap(one => one.fields);
  return [tree, ...others].some(one => fields.some(({ bindName }) => one.at(bindName)));
}

const isFile = (sent: Sent): sent is Exclude<Sent, string> => typeof sent !== 'string';

const areTexts = (sent: readonly Sent[]): sent is readonly string[] => !sent.some(isFile);

const failFile = (at: Location): typeof INVALID => at.fail('file-unexpected', 'Send text here, not a file.');

/**
 * Reads the texts, or the files, that were sent under one name.
 * @param isOneValue true for one text that may hold several items: a collection is split at its commas, or read as
 * JSON. Otherwise each text is one item.
 */
export function readText(codec: AnyCodec, sent: readonly Sent[], isOneValue: boolean, at: Location): unknown {
  if (!areTexts(sent)) return readFiles(codec, sent, at);
  const [text = '', another] = sent;
  switch (codec.kind) {
    case 'scalar':
      if (another === undefined || codec.isJoined) return textOf(codec, sent.join(','), at);
      return at.failCount(sent.length, codec.name);
    case 'nullable':
      // The text of an object is its JSON, and so is that of null; for another type, it may be a text like any other.
      if (
        another === undefined &&
        text.trim() === 'null' &&
        ['object', 'union', 'record'].includes(notNull(codec).kind)
      )
        return null;
      return readText(codec.inner, sent, isOneValue, at);
    case 'list': {
      const json = isOneValue ? arrayIn(text, codec.item) : undefined;
      if (json !== undefined) return jsonInText(json, at, (value, inside) => readJson(codec, value, inside));
      const items = isOneValue ? splitAtCommas(text) : sent;
      const read = each(items, at, (one, index) => {
        // Without an index in the name that was sent, the failure of a single item is reported under that.
        const here = items.length > 1 ? at.below(index) : at;
        return readText(codec.item, [at.source === 'header' ? one.trim() : one], true, here);
      });
      return keepsRules(codec, read, at);
    }
    case 'object':
    case 'union':
    case 'record':
      if (another !== undefined) return at.failCount(sent.length, 'JSON object');
      return jsonInText(text, at, (value, inside) => readJson(codec, value, inside));
    case 'file':
      return failNoFile(at);
    case 'schema':
      return schemaFromSent(codec, sent, isOneValue, at);
  }
}

function readFiles(codec: AnyCodec, sent: readonly Sent[], at: Location): unknown {
  const type = notNull(codec);
  const count = sent.length;
  if (!mayTakeFiles(type)) return failFile(at);
  if (!sent.every(isFile)) return at.fail('file-expected', 'Some values of this field are text; send only files.');
  if (type.kind === 'schema') return schemaFromSent(type, sent, false, at);
  if (type.kind === 'list') {
    const read = each(sent, at, one => readFiles(type.item, [one], at));
    return keepsRules(type, read, at);
  }
  return count === 1
    ? keepsRules(type as FileCodec, sent[0], at)
    : at.fail('several-files', `There are ${count} files where one is expected.`, { count });
}

function textOf(codec: ScalarCodec, text: string, at: Location): unknown {
  if (codec.text) {
    const read = codec.text(text);
    if (read === undefined) return at.failValue(text, codec.name, undefined, codec.described);
    return keepsRules(codec, read, at);
  }
  // A converter reads JSON; text without brackets is a string of it.
  return /^\s*[[{]/.test(text)
    ? jsonInText(text, at, (value, inside) => readJson(codec, value, inside))
    : readJson(codec, text, at);
}

/** Returns the JSON array that a text is meant as; undefined if the text is no JSON. */
function arrayIn(only: string, item: Codec): string | undefined {
  const text = only.trim();
  const type = notNull(item);
  const takesAnyText = type.kind === 'schema' || (type.kind === 'scalar' && type.takesAnyText === true);
  if (text.startsWith('[') && (!takesAnyText || isJsonText(text))) return text;
  // A guid can be in braces, too, so braces alone do not make it JSON.
  if (text.startsWith('{') && (type.kind !== 'scalar' || isJsonText(`[${text}]`))) return `[${text}]`;
  return undefined;
}
