import { boolean, checkOptions, isClass, oneOf, positiveInteger } from '../../options/check';
import type { Codec } from './codec';
import { isOptional, type AnyType, type Codecs, type Infer, type ValueType } from './property-type';
import { counted, ruledType, type CommonRules, type Kinds, type RuledType } from './rules';

/**
 * A type whose value may be missing; it is `undefined` then.
 * @param options with `null: 'refuse'`, JSON null is no missing value, but a wrong one.
 */
export function optional<X extends AnyType>(
  type: X,
  options: { readonly null?: 'refuse' } = {},
): ValueType<Infer<X> | undefined> {
  checkOptions('optional', options, { null: oneOf('refuse') });
  return { isOptional: true, refusesNull: options.null === 'refuse', codec: codecs => codecs.of(type) };
}

/** A type whose value may be `null`, in JSON; the text of an object is JSON, too. */
export function nullable<X extends AnyType>(type: X): ValueType<Infer<X> | null> {
  return {
    isOptional: isOptional(type),
    codec(codecs) {
      const inner = codecs.of(type);
      return { ...inner, notNull: inner.notNull ?? inner };
    },
  };
}

/** Rules of `list(…)`. */
export interface ListRules {
  /** Fewest items. */
  minItems?: number;
  /** Most items. */
  maxItems?: number;
  /** Whether no two items may be equal, by their JSON. */
  uniqueItems?: boolean;
}

const numberOfItems = (items: readonly unknown[]): number => items.length;

const listRules: Kinds<ListRules> = {
  minItems: counted('minItems', 'item', numberOfItems),
  maxItems: counted('maxItems', 'item', numberOfItems),
  uniqueItems: {
    ...boolean,
    meaning: () => ({ says: 'have no two equal items', holds: areUnique, schema: { uniqueItems: true } }),
  },
};

/** Compares by what is written, in which members of objects have one order: that of their declaration. */
function areUnique(items: readonly unknown[]): boolean {
  const asText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
  const known = items.filter(item => item !== undefined).map(item => JSON.stringify(item, asText));
  return new Set(known).size === known.length;
}

/**
 * A collection. As text: repeated values, `name[]` or `name[0]`, each one item; or one value that is a JSON array, JSON
 * objects with commas between them (Swagger UI sends `{..},{..}`), or items with commas between them.
 * @param rules the same as `list(type).with(rules)`.
 */
export function list<X extends AnyType>(
  type: X,
  rules?: ListRules & CommonRules<Infer<X>[]>,
): RuledType<Infer<X>[], ListRules> {
  const plain = ruledType<Infer<X>[], ListRules>('list', listRules, codecs => {
    const item = present(type, codecs, 'list');
    return { kind: 'list', name: `list of ${item.name}`, item };
  });
  return rules === undefined ? plain : plain.with(rules);
}

/** An uploaded file, as multer describes it: in memory with `buffer`, on disk with `path`. */
export type UploadedFile = Express.Multer.File;

/** Rules of `file`. */
export interface FileRules {
  /** Most bytes. */
  maxBytes?: number;
  /** Media types, as the client names them: `image/png`, or `image/*` for all of a kind. */
  mediaTypes?: readonly string[];
}

const fileRules: Kinds<FileRules> = {
  // The length of binary data in JSON Schema.
  maxBytes: counted('maxLength', 'byte', ({ size }: UploadedFile) => size, positiveInteger),
  mediaTypes: {
    expects: "an array of media types, for example ['image/png', 'image/*']",
    accepts: value =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every(one => typeof one === 'string' && /^[\w.+-]+\/(?:\*|[\w.+-]+)$/.test(one)),
    meaning(types: readonly string[]) {
      const names = new Set(types.map(one => one.toLowerCase()));
      const isNamed = (type: string): boolean => names.has(type) || names.has(type.replace(/\/.*/, '/*'));
      const holds = ({ mimetype }: UploadedFile): boolean => isNamed(mimetype.toLowerCase());
      const schema = types.length === 1 ? { contentMediaType: types[0] } : {};
      return { says: `be of the media type ${types.join(' or ')}`, holds, schema };
    },
  },
};

/** One uploaded file of a multipart form; `list(file)` for several. */
export const file: RuledType<UploadedFile, FileRules> = ruledType(
  'file',
  fileRules,
  () => ({ kind: 'file', name: 'file' }) as const,
);

/**
 * An object whose names are the client's. It has no prototype, so that `__proto__` is a name like any other.
 * @param type of all its values.
 */
export function record<X extends AnyType>(type: X): ValueType<Record<string, Infer<X>>> {
  return {
    codec(codecs) {
      const item = present(type, codecs, 'record');
      return { kind: 'record', name: `record of ${item.name}`, item };
    },
  };
}

/** Returns the codec of the values of a type. @throws TypeError if they may be missing. */
function present(type: AnyType, codecs: Codecs, whole: string): Codec {
  if (!isOptional(type)) return codecs.of(type);
  throw new TypeError(
    `a ${whole} has no missing values: write optional(${whole}(…)) if all of it may be missing, or ` +
      `${whole}(nullable(…)) if a value may be null`,
  );
}

/**
 * A type that is declared further down, or refers to itself: `list(lazy(() => Node))`.
 * @param resolve called once for each middleware or serializer context, when that is made; for `routeValue()` and the
 * like, when they first read the type.
 * @throws TypeError if `resolve` is not a function, or is a class.
 */
export function lazy<X extends AnyType>(resolve: () => X): ValueType<Infer<X>> {
  if (typeof resolve !== 'function' || isClass(resolve))
    throw new TypeError('lazy takes a function that returns the type, for example lazy(() => Node)');
  return {
    codec(codecs) {
      const type = resolve();
      if (isOptional(type))
        throw new TypeError(
          'lazy must not return an optional type: write optional(lazy(() => …)) instead of lazy(() => optional(…))',
        );
      return codecs.of(type);
    },
  };
}
