import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, isPromise, type Awaitable } from '../../basics/awaitable';
import { splitAtCommas } from '../reading/comma-separated';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP } from '../reading/json-text';
import { INVALID, UNDEFINED, type Location } from '../reading/location';
import type { NameTree, Sent } from '../reading/name-tree';
import type { Codec } from './codec';
import type { JsonSchema, Schemas } from './json-schema';
import { failNameless } from './nameless';
import { refuse, type SentKeys } from './schema-issues';
import { shapeOf, UNKNOWN, type Shape } from './schema-shape';
import { writableAsSchema } from './schema-writer';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * The codec of a Standard Schema (standardschema.dev): zod, valibot, arktype and others. The schema is asked which JSON
 * it takes when the middleware is made; what was sent is converted to that once, and checked by the schema once.
 *
 * The members of the codec are properties, because `nullable`, parsers and converters copy codecs by spreading.
 */
export class SchemaCodec implements Codec<unknown> {
  readonly name: string;
  readonly shape = 'schema';
  readonly takesEmptyText = true;
  readonly takesAnyText = true;
  readonly takesNull = true;
  private readonly json: Shape;

  constructor(private readonly standard: StandardSchemaV1) {
    this.name = standard['~standard'].vendor;
    this.json = shapeOf(standard);
  }

  readonly schema = (schemas: Schemas): JsonSchema => schemas.ofStandard(this.standard);

  readonly toJson = (value: unknown): unknown => writableAsSchema(value, this.name);

  readonly fromJson = (value: unknown, location: Location): Awaitable<unknown> => {
    const plain = plainJson(value, location);
    return plain === INVALID ? INVALID : this.check(plain, location);
  };

  readonly fromText = (values: readonly string[], location: Location): Awaitable<unknown> => {
    const [text = ''] = values;
    if (values.length !== 1) return this.fromItems(values, location);
    const value = fromText(text, this.json, location);
    return value === INVALID ? INVALID : this.check(value, isJsonOf(value, text) ? location.asJson() : location);
  };

  readonly fromItems = (values: readonly Sent[], location: Location): Awaitable<unknown> => {
    const value = fromSeveral(values, this.json, location);
    return value === INVALID ? INVALID : this.check(value, location);
  };

  readonly fromSegments = (segments: readonly string[], location: Location): Awaitable<unknown> =>
    this.json.takes.has('array') ? this.fromItems(segments, location) : this.fromText([segments.join('/')], location);

  readonly fromNames = (tree: NameTree, location: Location, required: boolean): Awaitable<unknown> => {
    if (!required && !this.isSentBelow(tree)) return undefined;
    const sentKeys: SentKeys = new WeakMap();
    const value = fromNames(tree, this.json, location, sentKeys);
    return value === INVALID ? INVALID : this.check(value, location, sentKeys);
  };

  readonly isSentBelow = (tree: NameTree): boolean => {
    const { takes, properties, others } = this.json;
    const isOwn = (key: string): boolean =>
      others() !== undefined || properties().has(key.toLowerCase()) || (takes.has('array') && /^\d*$/.test(key));
    return tree.below().some(({ key }) => isOwn(key));
  };

  /** A file of JSON holds what is no text and no file. */
  readonly takesJsonAt = (name: string): boolean => {
    const { takes } = propertyOf(this.json, name).shape;
    return takes.size > 0 && !takes.has('string');
  };

  readonly fromFiles = (files: readonly Express.Multer.File[], location: Location): Awaitable<unknown> => {
    const value = files.length === 1 ? fromOne(files, this.json) : fromSeveral(files, this.json, location);
    return value === INVALID ? INVALID : this.check(value, location);
  };

  /** A coercing schema makes 0 or false of empty text, and the text 'null' of null. */
  readonly fromBlank = (blank: '' | null): Awaitable<unknown> =>
    after(this.validate(blank), result => {
      const isMissing = result.issues || (blank === null ? result.value === 'null' : typeof result.value !== 'string');
      return isMissing ? undefined : result.value;
    });

  /** A coercing schema (z.coerce.string()) turns undefined into the text 'undefined'; treat that as missing. */
  readonly fromNothing = (): Awaitable<unknown> =>
    after(this.validate(undefined), result => (result.issues || result.value === 'undefined' ? INVALID : result.value));

  private validate(input: unknown): Awaitable<StandardSchemaV1.Result<unknown>> {
    const result = this.standard['~standard'].validate(input);
    // The standard allows only a Promise; a thenable is turned into one.
    return 'then' in result ? Promise.resolve(result) : result;
  }

  private check(input: unknown, location: Location, sentKeys?: SentKeys): Awaitable<unknown> {
    const result = this.validate(input);
    const here = isPromise(result) ? location.stay() : location;
    return after(result, ({ issues, ...known }) => {
      if (issues) return refuse(issues, here, input, sentKeys);
      const { value } = known as { readonly value: unknown };
      return value === undefined ? UNDEFINED : value;
    });
  }
}

/** Converts one text to the JSON that was meant by it. */
function fromText(text: string, shape: Shape, location: Location): unknown {
  const { takes } = shape;
  const trimmed = text.trim();
  if (takes.has('string')) return text;
  if (takes.has('number') && NUMBER.test(trimmed)) return Number(trimmed);
  if (takes.has('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  const json = takes.has('array') || takes.has('object') ? jsonLike(text) : undefined;
  if (json === TOO_DEEP) return location.failTooDeep();
  // One object may be a collection of one.
  if (json !== undefined) return plainJson(isJsonObject(json) && !takes.has('object') ? [json] : json, location);
  if (!takes.has('array')) return text;
  const parts = splitAtCommas(text);
  return fromSeveral(location.source === 'header' ? parts.map(part => part.trim()) : parts, shape, location);
}

const isJsonOf = (value: unknown, text: string): boolean =>
  typeof value === 'object' && value !== null && /^\s*[[{]/.test(text);

/** Converts values of one name, each of which is one item. */
function fromSeveral(values: readonly Sent[], shape: Shape, location: Location): unknown {
  if (location.isTooLong(values.length)) return INVALID;
  const items = values.map((one, index) => fromItem(one, shape.item(index), location));
  return items.includes(INVALID) ? INVALID : items;
}

const fromItem = (value: Sent, shape: Shape, location: Location): unknown =>
  typeof value === 'string' ? fromText(value, shape, location) : value;

/** A file by itself may be a collection of one. */
const fromOne = ([value]: readonly Sent[], { takes }: Shape): unknown => (takes.has('array') ? [value] : value);

const propertyOf = (shape: Shape, key: string): { readonly name: string; readonly shape: Shape } =>
  shape.properties().get(key.toLowerCase()) ?? { name: key, shape: shape.others() ?? UNKNOWN };

/** Converts the names below one name to objects and arrays. @param sentKeys gets the indexes that were sent. */
function fromNames(tree: NameTree, shape: Shape, location: Location, sentKeys: SentKeys): unknown {
  const { values } = tree;
  if (tree.isLeaf && !tree.isRoot) {
    const [only] = values;
    if (!tree.isOneValue || only === undefined) return fromSeveral(values, shape, location);
    return typeof only === 'string' ? fromText(only, shape, location) : fromOne(values, shape);
  }
  if (location.isTooDeep()) return INVALID;
  const inside = (key: string | number, below: NameTree, inner: Shape): unknown => {
    location.enter(key);
    const value = fromNames(below, inner, location, sentKeys);
    location.leave();
    return value;
  };
  const isRecord = shape.takes.has('object') && !shape.takes.has('array');
  if (tree.isRoot || !tree.isArray || isRecord) {
    // A value must not be lost silently: the schema would never see it.
    if (tree.hasNameless && !tree.isRoot) return failNameless(location);
    const entries = tree.below().map(one => {
      const { name, shape: inner } = propertyOf(shape, one.key);
      return [name, inside(name, one, inner)] as const;
    });
    return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
  }
  if (tree.hasNameless) return failNameless(location);
  const indexed = tree.indexed(location);
  if (indexed === INVALID) return INVALID;
  const plain = fromSeveral(tree.unindexed, shape, location);
  if (plain === INVALID || location.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
  const items = [...(plain as unknown[]), ...indexed.map(([index, one]) => inside(index, one, shape.item(index)))];
  sentKeys.set(items, [...tree.unindexed.keys(), ...indexed.map(([index]) => index)]);
  return items.includes(INVALID) ? INVALID : items;
}
