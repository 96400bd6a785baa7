import { INVALID, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { failNameless } from './nameless';

/** Converts the names below to objects and arrays, for a schema to check. A whole form is always an object. */
export function plainNames(tree: NameTree, location: Location): unknown {
  if (tree.isLeaf && !tree.isRoot) {
    const { values } = tree;
    return values.length === 1 && tree.isOneValue ? values[0] : location.isTooLong(values.length) ? INVALID : values;
  }
  if (location.isTooDeep()) return INVALID;
  // A value must not be lost silently: the schema would never see it.
  if (tree.hasNameless && !tree.isRoot) return failNameless(location);
  if (tree.isArray && !tree.isRoot) {
    const indexed = tree.indexed(location);
    if (indexed === INVALID || location.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
    return allValid([...tree.unindexed, ...indexed.map(([index, one]) => plainAt(index, one, location))]);
  }
  const entries = tree.below().map(([key, one]) => [key, plainAt(key, one, location)] as const);
  return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
}

function plainAt(key: string | number, tree: NameTree, location: Location): unknown {
  location.enter(key);
  const plain = plainNames(tree, location);
  location.leave();
  return plain;
}

/**
 * Translates a path in what `plainNames` returns to the names that were sent: with gaps between indexes, `items[0]` of
 * an array may be `items[3]`.
 */
export function sentPath(path: readonly (string | number)[], tree: NameTree): (string | number)[] {
  let here: NameTree | undefined = tree;
  return path.map(key => {
    const [sent, below] = here ? stepInto(here, key) : [key];
    here = below;
    return sent;
  });
}

function stepInto(tree: NameTree, key: string | number): readonly [sent: string | number, below?: NameTree] {
  if (!tree.isArray || tree.isRoot) return [key, tree.child(String(key))];
  return tree.inIndexOrder[Number(key) - tree.unindexed.length] ?? [key];
}

const allValid = (values: readonly unknown[]): unknown => (values.includes(INVALID) ? INVALID : values);
