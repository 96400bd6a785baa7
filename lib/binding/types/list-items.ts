import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { INVALID, withoutMark, type Invalid, type Location } from '../reading/location';
import { NameTree, type IndexedItem, type Sent } from '../reading/name-tree';
import type { Codec } from './codec';
import { readNested } from './read-value';

/** Reads the items of a JSON array. */
export function itemsFromJson<T>(
  item: Codec<T>,
  name: string,
  value: unknown,
  location: Location,
): Awaitable<T[] | Invalid> {
  if (!Array.isArray(value)) return location.failValue(value, name, undefined, 'a JSON array');
  if (location.isTooDeep()) return INVALID;
  return each(value as unknown[], location, (one, index) => {
    location.enter(index);
    const read = item.fromJson(one, location);
    location.leave();
    return read;
  });
}

/**
 * Reads texts, each of which is one item.
 * @param indexes the indexes that the client has sent, if any.
 */
export function itemsFromTexts<T>(
  item: Codec<T>,
  values: readonly string[],
  location: Location,
  indexes?: readonly number[],
): Awaitable<T[] | Invalid> {
  // A failure of a single item is reported under the name that was sent: without an index, unless that has one.
  const hasIndexes = values.length > 1 || indexes !== undefined;
  return each(values, location, (one, position) => {
    if (hasIndexes) location.enter(indexes?.[position] ?? position);
    const read = item.fromText([location.source === 'header' ? one.trim() : one], location);
    if (hasIndexes) location.leave();
    return read;
  });
}

/**
 * Reads items that were sent under names of their own.
 * @param plain the values that were sent without an index.
 * @param indexed what was sent under each index, or below it.
 */
export function itemsFromNames<T>(
  item: Codec<T>,
  plain: readonly Sent[],
  indexed: readonly IndexedItem[],
  location: Location,
): Awaitable<T[] | Invalid> {
  const items = [
    ...plain.map((value, index): IndexedItem => [index, NameTree.leaf(value)]),
    ...indexed.flatMap(one => (item.isCollection ? [one] : oneByOne(one))),
  ];
  return each(items, location, ([index, one]) => {
    location.enter(index);
    const read = readNested({ codec: item, required: true }, one, location) as Awaitable<T | Invalid> | undefined;
    const there = read === undefined ? location.failMissing() : read;
    location.leave();
    return there;
  });
}

/** Splits two values under one index: they are two items. */
function oneByOne([index, tree]: IndexedItem): IndexedItem[] {
  return tree.isLeaf ? tree.values.map(value => [index, NameTree.leaf(value)]) : [[index, tree]];
}

/** Reads all items, even after a failure, so that every failure is reported. */
export function each<V, T>(
  values: readonly V[],
  location: Location,
  read: (value: V, index: number) => Awaitable<T | Invalid>,
): Awaitable<T[] | Invalid> {
  const count = values.length;
  if (location.isTooLong(count)) return INVALID;
  const items: Awaitable<T | Invalid>[] = [];
  let [valid, later] = [true, false];
  for (let index = 0; index < count; index++) {
    const item = read(values[index] as V, index);
    if (item === INVALID) valid = false;
    else if (isPromise(item)) later = true;
    items.push(withoutMark(item) as typeof item);
  }
  if (!later) return valid ? (items as T[]) : INVALID;
  return after(Promise.all(items as readonly unknown[]), all =>
    all.includes(INVALID) ? INVALID : (all.map(withoutMark) as T[]),
  );
}
