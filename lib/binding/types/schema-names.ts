import { INVALID, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { failNameless } from './nameless';

/** The names below one name, and the shape that a schema gets of those that have indexes. */
export interface SentNames {
  readonly tree: NameTree;
  /** Returns true for names like `[17]` that are the properties of an object, and not the items of an array. */
  readonly isObject: (tree: NameTree) => boolean;
}

/** Converts the names below to objects and arrays, for a schema to check. A whole form is always an object. */
export function plainNames({ tree, isObject }: SentNames, location: Location): unknown {
  if (tree.isLeaf && !tree.isRoot) {
    const { values } = tree;
    if (values.length === 1 && tree.isOneValue) return values[0];
    // A copy, because what a schema refuses is replaced in it, and another shape begins with what was sent.
    return location.isTooLong(values.length) ? INVALID : [...values];
  }
  if (location.isTooDeep()) return INVALID;
  // A value must not be lost silently: the schema would never see it.
  if (tree.hasNameless && !tree.isRoot) return failNameless(location);
  const plainAt = (key: string | number, below: NameTree): unknown => {
    location.enter(key);
    const plain = plainNames({ tree: below, isObject }, location);
    location.leave();
    return plain;
  };
  if (tree.isArray && !tree.isRoot && !isObject(tree)) {
    const indexed = tree.indexed(location);
    if (indexed === INVALID || location.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
    // `concat` makes an array of the right size; an array that grows has room for 17.
    const items = Array<unknown>().concat(
      tree.unindexed,
      indexed.map(([index, one]) => plainAt(index, one)),
    );
    return items.includes(INVALID) ? INVALID : items;
  }
  const entries = tree.below().map(one => [one.key, plainAt(one.key, one)] as const);
  return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
}

/**
 * Translates a path in what `plainNames` returns to the names that were sent: with gaps between indexes, `items[0]` of
 * an array may be `items[3]`.
 */
export const sentPath = (path: readonly (string | number)[], names: SentNames): (string | number)[] =>
  stepsAlong(path, names).map(([key]) => key);

/** Returns the names at the end of a path in what `plainNames` returns; undefined if it leads elsewhere. */
export const treeAt = (path: readonly (string | number)[], names: SentNames): NameTree | undefined =>
  path.length === 0 ? names.tree : stepsAlong(path, names).at(-1)?.[1];

type Step = readonly [sent: string | number, below?: NameTree | undefined];

function stepsAlong(path: readonly (string | number)[], { tree, isObject }: SentNames): Step[] {
  let here: NameTree | undefined = tree;
  return path.map(key => {
    const step: Step = here ? stepInto(here, key, isObject(here)) : [key];
    here = step[1];
    return step;
  });
}

function stepInto(tree: NameTree, key: string | number, isObject: boolean): Step {
  const below = tree.child(String(key));
  if (isObject) return [below ? Number(key) : key, below];
  if (!tree.isArray || tree.isRoot) return [key, below];
  return tree.inIndexOrder[Number(key) - tree.unindexed.length] ?? [key];
}
