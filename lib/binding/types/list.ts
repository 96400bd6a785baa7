import { after, type Awaitable } from '../reading/awaitable';
import { splitAtCommas } from '../reading/comma-separated';
import { isJson, jsonInText } from '../json/json-text';
import { INVALID, type Invalid, type Place } from '../reading/place';
import { isSent, readNested, readSent } from '../reading/reading';
import { Branch } from '../sources/branch';
import { written, type Codec } from './codec';
import { failNameless } from './nameless';
import type { AnyType, Infer, PropertyType } from './property-type';

/**
 * A collection. As text: repeated values, `name[]` or `name[0]`, each one item; or one value that is a JSON array, JSON objects
 * with commas between them (Swagger UI sends `{..},{..}`), or comma-separated.
 */
export function list<X extends AnyType>(type: X): PropertyType<Infer<X>[]> {
  return { codec: codecs => listOf(codecs.of(type)) };
}

function listOf<T>(item: Codec<T>): Codec<T[]> {
  const name = `list of ${item.name}`;

  /** True for `items[].sku`, `items.sku` and `items[x].sku`: an item was meant, but which? The names of a schema are unknown. */
  const hasNameless = (branch: Branch, place: Place): boolean => {
    const others = branch
      .below()
      .filter(([key]) => !/^\d*$/.test(key))
      .map(([, one]) => one);
    if (branch.hasNameless || (item.shape === 'schema' && others.length > 0)) return true;
    return (
      item.memberOf !== undefined &&
      others.length > 0 &&
      [branch, ...others].some(one => item.isSentBelow?.(one, place))
    );
  };

  const fromJson = (value: unknown, place: Place): Awaitable<T[] | Invalid> => {
    if (!Array.isArray(value)) return place.failValue(value, name);
    return place.isTooDeep()
      ? INVALID
      : each(value as unknown[], place, (one, index) => {
          place.enter(index);
          const read = item.fromJson(one, place);
          place.leave();
          return read;
        });
  };

  const fromItems = (values: readonly string[], place: Place): Awaitable<T[] | Invalid> => {
    // An item that is alone has the name that it was sent under.
    const hasIndexes = values.length > 1;
    return each(values, place, (one, index) => {
      if (hasIndexes) place.enter(index);
      const read = item.fromText([place.source === 'header' ? one.trim() : one], place);
      if (hasIndexes) place.leave();
      return read;
    });
  };

  const codec: Codec<T[]> = {
    name,
    shape: item.shape === 'file' ? 'file' : 'list',
    isCollection: true,
    parts: () => [item],
    fromJson,
    fromText(values, place) {
      const [only = ''] = values;
      if (values.length !== 1) return fromItems(values, place);
      const text = only.trim();
      if (text.startsWith('[') && (!item.takesAnyText || isJson(text))) return jsonInText(text, place, fromJson);
      // A guid can be in braces, too.
      if (text.startsWith('{') && (item.shape !== 'scalar' || isJson(`[${text}]`)))
        return jsonInText(`[${text}]`, place, fromJson);
      return fromItems(splitAtCommas(only), place);
    },
    fromItems,
    isSentBelow: (branch, place) =>
      hasNameless(branch, place) || branch.below().some(([key, one]) => /^\d*$/.test(key) && !one.isEmpty),
    fromNames(branch, place, required) {
      const indexed = branch.indexed(place);
      if (indexed === INVALID || place.isTooDeep()) return INVALID;
      const plain = branch.unindexed;
      if (hasNameless(branch, place)) return failNameless(place);
      if (!required && !isSent(codec, branch, place)) return undefined;
      if (indexed.length === 0) return readSent(codec, plain, branch.isOneValue, place);
      const items = [
        ...plain.map((value, index) => [index, Branch.leaf(value)] as const),
        ...indexed.flatMap(one => (item.isCollection ? [one] : oneByOne(one))),
      ];
      return each(items, place, ([index, one]) => {
        place.enter(index);
        const read = readNested({ codec: item, required: true }, one, place) as Awaitable<T | Invalid> | undefined;
        const there = read === undefined ? place.failMissing() : read;
        place.leave();
        return there;
      });
    },
    ...(item.fromFiles && {
      fromFiles: (files: readonly Express.Multer.File[], place: Place) =>
        each(files, place, one => item.fromFiles?.([one], place) ?? INVALID),
    }),
    toJson(value) {
      if (Array.isArray(value)) return value.map(one => written(item, one));
      throw new TypeError(
        `What is no array cannot be written as a ${name}, which is what the response is declared to have there.`,
      );
    },
  };
  return codec;
}

/** What was sent twice under one index is two items. */
function oneByOne([index, branch]: readonly [index: number, item: Branch]): (readonly [index: number, item: Branch])[] {
  return branch.isLeaf ? branch.values.map(value => [index, Branch.leaf(value)]) : [[index, branch]];
}

/** Reads item after item; all of them, so that every failure is noted. */
function each<V, T>(
  values: readonly V[],
  place: Place,
  read: (value: V, index: number) => Awaitable<T | Invalid>,
): Awaitable<T[] | Invalid> {
  const { items: limit } = place.limits;
  const count = values.length;
  if (count > limit)
    return place.fail('too-many-items', `There are ${count} items; ${limit} are allowed.`, { count, limit });
  const items: Awaitable<T | Invalid>[] = [];
  let [valid, later] = [true, false];
  for (let index = 0; index < count; index++) {
    const item = read(values[index] as V, index);
    if (item === INVALID) valid = false;
    else if (item instanceof Promise) later = true;
    items.push(item);
  }
  if (!later) return valid ? (items as T[]) : INVALID;
  return after(Promise.all(items as readonly unknown[]), all => (all.includes(INVALID) ? INVALID : (all as T[])));
}
