import { INVALID, type Location } from '../reading/location';
import { NameTree, type IndexedItem, type Sent } from '../reading/name-tree';
import {
  isBlocked,
  isCollection,
  mayTakeFiles,
  notNull,
  objectsOf,
  type AnyCodec,
  type Codec,
  type ListCodec,
  type ObjectCodec,
} from './codec';
import { each, emptyList, failNoTag, orNothing, readBranch, readObject, readRecord, type Expected } from './read-json';
import { failFile, isBlank, isFile, readBlank, readSent } from './read-text';
import { keepsRules } from './rules';
import { failNameless, isSchemaSent, schemaFromNames } from './schema';

/** Reads the values sent under a name, and ignores the names below it. */
export function readFlat(expected: Expected, tree: NameTree, at: Location): unknown {
  const { codec, required } = expected;
  if (notNull(codec).kind === 'schema' && tree.isArray)
    return !required && tree.holdsEmptyText ? undefined : readNames(codec, tree, at, true);
  if (!isCollection(codec)) return readUnlessBlank(expected, tree.values, tree, at);
  const sent = tree.collected(at);
  return sent === INVALID ? INVALID : readUnlessBlank(expected, sent.values, tree, at, sent.indexes);
}

/**
 * Reads the values sent under a name or below it. A required collection without values is empty: a form has no other
 * way to send an empty one.
 */
function readNested(expected: Expected, tree: NameTree | undefined, at: Location): unknown {
  const { codec, required } = expected;
  if (!tree || tree.isEmpty) return isCollection(codec) && required ? emptyList(codec, at) : undefined;
  const { kind } = notNull(codec);
  // An undeclared name below must not hide a value of this name.
  const isBelow = tree.values.length === 0 || (!tree.isLeaf && isSentBelow(codec, tree, at));
  if (kind === 'scalar' || kind === 'file' || !isBelow) return readUnlessBlank(expected, tree.values, tree, at);
  const mayBeEmpty = kind === 'list' || (kind === 'schema' && tree.isArray);
  if (mayBeEmpty && !required && tree.holdsEmptyText) return undefined;
  const hasUnexpectedFile = !mayTakeFiles(codec) && tree.values.some(isFile);
  return hasUnexpectedFile ? failFile(at) : readNames(codec, tree, at, required);
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
      return readItemsOf(codec, tree, at, required);
    case 'object': {
      if (!required && !isSentBelow(codec, tree, at)) return undefined;
      if (at.isTooDeep()) return INVALID;
      return readObject(codec, at, found => {
        for (const member of codec.fields) {
          const here = at.below(member.bindName);
          const sent = isBlocked(member, at) ? undefined : readNested(member, tree.at(member.bindName), here);
          found.put(member.property, orNothing(sent, member, here));
        }
      });
    }
    case 'union': {
      if (!required && !isSentBelow(codec, tree, at)) return undefined;
      const { tag } = codec;
      const here = at.below(tag.bindName);
      return readBranch(codec, readNested(tag, tree.at(tag.bindName), here) ?? failNoTag(tag, here), branch =>
        readNames(branch, tree, at, true),
      );
    }
    case 'record': {
      if (!required && !isSentBelow(codec, tree, at)) return undefined;
      const keys = tree.below().filter(one => !one.isEmpty);
      return readRecord(
        keys.map(({ key }) => key),
        at,
        key => {
          const here = at.below(key);
          return readNested({ codec: codec.item, required: true }, tree.child(key), here) ?? here.failMissing();
        },
      );
    }
    case 'schema':
      return schemaFromNames(codec, tree, at, required);
    case 'scalar':
    case 'file':
      return undefined;
  }
}

function readItemsOf(codec: ListCodec, tree: NameTree, at: Location, required: boolean): unknown {
  const { item } = codec;
  const indexed = tree.indexed(at);
  if (indexed === INVALID || at.isTooDeep()) return INVALID;
  if (hasNameless(item, tree, at)) return failNameless(at);
  if (!required && tree.values.length === 0 && !isSentBelow(codec, tree, at)) return undefined;
  if (indexed.length === 0) return readSent(codec, tree.unindexed, tree.isOneValue, at);
  const items = [
    ...tree.unindexed.map((value, index): IndexedItem => [index, NameTree.leaf(value)]),
    ...indexed.flatMap(one => (isCollection(item) ? [one] : oneByOne(one))),
  ];
  const read = each(items, at, ([index, one]): unknown => {
    const here = at.below(index);
    const read = readNested({ codec: item, required: true }, one, here);
    return read === undefined ? here.failMissing() : read;
  });
  return keepsRules(codec, read, at);
}

/** Splits two values under one index: they are two items. */
function oneByOne([index, tree]: IndexedItem): IndexedItem[] {
  return tree.isLeaf ? tree.values.map(value => [index, NameTree.leaf(value)]) : [[index, tree]];
}

/** Returns true if one of the type's own names was sent, at any depth. Undeclared names do not count. */
function isSentBelow(codec: Codec, tree: NameTree, at: Location): boolean {
  const type = notNull(codec);
  switch (type.kind) {
    case 'list':
      return hasNameless(type.item, tree, at) || tree.below().some(one => /^\d*$/.test(one.key) && !one.isEmpty);
    case 'object':
    case 'union':
      return objectsOf(type).some(one => isObjectSent(one, tree, at));
    case 'record':
      return tree.below().some(one => !one.isEmpty);
    case 'schema':
      return isSchemaSent(type, tree);
    case 'scalar':
    case 'file':
      return false;
  }
}

/** A list asks about the same names at two levels: without the answers kept, each level would take twice the time. */
const answers = new WeakMap<NameTree, Map<ObjectCodec, boolean>>();

function isObjectSent(codec: ObjectCodec, tree: NameTree, at: Location): boolean {
  const known = answers.get(tree) ?? new Map<ObjectCodec, boolean>();
  answers.set(tree, known);
  const answer =
    known.get(codec) ??
    codec.fields.some(member => {
      const below = isBlocked(member, at) ? undefined : tree.at(member.bindName);
      return (
        below !== undefined && (below.values.length > 0 || (!below.isLeaf && isSentBelow(member.codec, below, at)))
      );
    });
  known.set(codec, answer);
  return answer;
}

/**
 * Returns true for `items[].sku`, `items.sku` and `items[x].sku`, which do not say which item is meant. The names of a
 * schema and of a record are unknown.
 */
function hasNameless(item: Codec, tree: NameTree, at: Location): boolean {
  const others = tree.below().filter(({ key }) => !/^\d*$/.test(key));
  const { kind } = notNull(item);
  if (tree.hasNameless || ((kind === 'schema' || kind === 'record') && others.length > 0)) return true;
  return (
    (kind === 'object' || kind === 'union') &&
    others.length > 0 &&
    [tree, ...others].some(one => isSentBelow(item, one, at))
  );
}

function readUnlessBlank(
  expected: Expected,
  sent: readonly Sent[],
  tree: NameTree,
  at: Location,
  indexes?: readonly number[],
): unknown {
  const { codec } = expected;
  if (sent.length === 0) return undefined;
  if (isBlank(expected, sent)) return readBlank(codec, at);
  return readSent(codec, sent, tree.isOneValue, at, indexes);
}
