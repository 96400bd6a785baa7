import { isPromise } from '../../basics/awaitable';
import { splitAtCommas } from '../reading/comma-separated';
import { isJsonText, jsonInText } from '../reading/json-text';
import { INVALID, type Location } from '../reading/location';
import type { NameTree } from '../reading/name-tree';
import { isSent, readSent } from './read-value';
import { takesFiles, type Codec } from './codec';
import type { JsonSchema, Schemas } from './json-schema';
import { each, itemsFromJson, itemsFromNames, itemsFromTexts } from './list-items';
import { failNameless } from './nameless';
import { isOptional, type AnyType, type Infer, type ValueType } from './property-type';
import { written } from './write-value';

/**
 * A collection. As text: repeated values, `name[]` or `name[0]`, each one item; or one value that is a JSON array, JSON
 * objects with commas between them (Swagger UI sends `{..},{..}`), or items with commas between them.
 */
export function list<X extends AnyType>(type: X): ValueType<Infer<X>[]> {
  return {
    codec(codecs) {
      if (isOptional(type))
        throw new TypeError(
          'a list has no missing items: write optional(list(…)) if the whole list may be missing, or ' +
            'list(nullable(…)) if an item may be null',
        );
      return listOf(codecs.of(type));
    },
  };
}

function listOf<T>(item: Codec<T>): Codec<T[]> {
  const name = `list of ${item.name}`;
  const fromJson: Codec<T[]>['fromJson'] = (value, location) => itemsFromJson(item, name, value, location);
  const codec: Codec<T[]> = {
    name,
    shape: 'list',
    isCollection: true,
    parts: () => [item],
    fromJson,
    fromText(values, location) {
      const [only = ''] = values;
      if (values.length !== 1) return itemsFromTexts(item, values, location);
      const json = arrayIn(only, item);
      return json === undefined
        ? itemsFromTexts(item, splitAtCommas(only), location)
        : jsonInText(json, location, fromJson);
    },
    fromItems: (values, location, indexes) => itemsFromTexts(item, values, location, indexes),
    isSentBelow: (tree, location) =>
      hasNameless(item, tree, location) || tree.below().some(one => /^\d*$/.test(one.key) && !one.isEmpty),
    fromNames(tree, location, required) {
      const indexed = tree.indexed(location);
      if (indexed === INVALID || location.isTooDeep()) return INVALID;
      if (hasNameless(item, tree, location)) return failNameless(location);
      if (!required && !isSent(codec, tree, location)) return undefined;
      return indexed.length === 0
        ? readSent(codec, tree.unindexed, tree.isOneValue, location)
        : itemsFromNames(item, tree.unindexed, indexed, location);
    },
    ...(item.fromFiles && {
      fromFiles: (files: readonly Express.Multer.File[], location: Location) =>
        each(files, location, one => item.fromFiles?.([one], location) ?? INVALID),
    }),
    ...schemaOfList(item),
    ...(item.isTextOnly && { isTextOnly: true }),
    toJson: listWriter(item, name),
  };
  return codec;
}

/** Returns the JSON array that a text is meant as; undefined if the text is no JSON. */
function arrayIn(only: string, item: Codec<unknown>): string | undefined {
  const text = only.trim();
  if (text.startsWith('[') && (!item.takesAnyText || isJsonText(text))) return text;
  // A guid can be in braces, too, so braces alone do not make it JSON.
  if (text.startsWith('{') && (item.shape !== 'scalar' || isJsonText(`[${text}]`))) return `[${text}]`;
  return undefined;
}

/** Describes the list, and its text if that of its items is another than their JSON. */
function schemaOfList(item: Codec<unknown>): Pick<Codec<unknown>, 'schema' | 'schemaOfText'> {
  return {
    schema: schemas => arrayOf(item, schemas.of(item), schemas),
    ...(item.schemaOfText && {
      schemaOfText: (schemas: Schemas) => arrayOf(item, item.schemaOfText?.(schemas) ?? {}, schemas),
    }),
  };
}

/**
 * Returns true for `items[].sku`, `items.sku` and `items[x].sku`, which do not say which item is meant. The names of a
 * schema are unknown.
 */
function hasNameless(item: Codec<unknown>, tree: NameTree, location: Location): boolean {
  const others = tree.below().filter(({ key }) => !/^\d*$/.test(key));
  if (tree.hasNameless || (item.shape === 'schema' && others.length > 0)) return true;
  return (
    item.memberOf !== undefined && others.length > 0 && [tree, ...others].some(one => item.isSentBelow?.(one, location))
  );
}

function listWriter(item: Codec<unknown>, name: string): (value: unknown) => unknown[] {
  return value => {
    if (Array.isArray(value)) return value.map(one => written(item, one));
    const what = isPromise(value) ? 'a promise: await it first' : 'a value that is not an array';
    throw new TypeError(`The response is declared as a ${name}, but the handler passed ${what}.`);
  };
}

/** Describes an array, and the number of items that the endpoint takes. */
function arrayOf(item: Codec<unknown>, items: JsonSchema, { limits }: Schemas): JsonSchema {
  const areFiles = takesFiles(item);
  // The files of a list of lists are sent under one name, too: each is a list of its own.
  if (areFiles && item.isCollection) return items;
  const most = limits && (areFiles ? Math.min(limits.items, limits.files) : limits.items);
  return { type: 'array', items, ...(most !== undefined && { maxItems: most }) };
}
