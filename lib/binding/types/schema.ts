import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, ignoreRejection, isPromise, type Awaitable } from '../../basics/awaitable';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP, splitAtCommas } from '../reading/json-text';
import { INVALID, UNDEFINED, type Invalid, type Location } from '../reading/location';
import type { NameTree, Sent } from '../reading/name-tree';
import type { SchemaCodec } from './codec';
import { refuse, type SentKeys } from './schema-issues';
import { shapeOf, UNKNOWN, type Shape } from './schema-shape';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Standard Schemas (standardschema.dev): zod, valibot, arktype and others. A schema is asked which JSON it takes when
 * the middleware is made; what was sent is converted to that once, and checked by the schema once.
 */
export function schemaCodec(standard: StandardSchemaV1): SchemaCodec {
  return { kind: 'schema', name: standard['~standard'].vendor, standard, json: shapeOf(standard) };
}

export const schemaFromJson = (codec: SchemaCodec, value: unknown, at: Location): unknown =>
  check(codec, plainJson(value, at), at);

export function schemaFromText(codec: SchemaCodec, values: readonly string[], at: Location): unknown {
  const [text = ''] = values;
  if (values.length !== 1) return schemaFromItems(codec, values, at);
  const value = fromText(text, codec.json, at);
  return check(codec, value, isJsonOf(value, text) ? at.asJson() : at);
}

/** Reads texts or files that were sent as items. */
export function schemaFromItems(codec: SchemaCodec, values: readonly Sent[], at: Location): unknown {
  const [only] = values;
  const isOneFile = values.length === 1 && typeof only !== 'string';
  return check(codec, isOneFile ? fromOne(values, codec.json) : fromSeveral(values, codec.json, at), at);
}

export function schemaFromNames(codec: SchemaCodec, tree: NameTree, at: Location, required: boolean): unknown {
  if (!required && !isSchemaSent(codec, tree)) return undefined;
  const sentKeys: SentKeys = new WeakMap();
  return check(codec, fromNames(tree, codec.json, at, sentKeys), at, sentKeys);
}

/** Returns true if names were sent that a schema may take. */
export function isSchemaSent({ json: { takes, properties, others } }: SchemaCodec, tree: NameTree): boolean {
  const isOwn = (key: string): boolean =>
    others() !== undefined || properties().has(key.toLowerCase()) || (takes.has('array') && /^\d*$/.test(key));
  return tree.below().some(({ key }) => isOwn(key));
}

/** Returns true if a file of JSON under a name is read as JSON: the schema takes something else than text there. */
export function takesJsonAt({ json }: SchemaCodec, name: string): boolean {
  const { takes } = propertyOf(json, name).shape;
  return takes.size > 0 && !takes.has('string');
}

/** Reads empty text or null for a value that may be missing. Coercing schemas make 0 of one, 'null' of the other. */
export const blankOfSchema = (codec: SchemaCodec, blank: '' | null): unknown =>
  after(validate(codec, blank), result => {
    const isMissing = result.issues || (blank === null ? result.value === 'null' : typeof result.value !== 'string');
    return isMissing ? undefined : result.value;
  });

/** Returns the value of a schema if none was sent, such as a default of its own. @param detail of the failure. */
export const nothingOfSchema = (codec: SchemaCodec, at: Location, detail?: string): unknown =>
  after(validate(codec, undefined), result => (isRefused(result) ? at.failMissing(detail) : result.value));

/** Returns true if a request without the value is refused, as far as that is known without waiting. */
export function requiresValue(codec: SchemaCodec): boolean {
  try {
    const result = validate(codec, undefined);
    ignoreRejection(result);
    return isPromise(result) || isRefused(result);
  } catch {
    return true;
  }
}

type Result = StandardSchemaV1.Result<unknown>;

/** A coercing schema (z.coerce.string()) turns undefined into the text 'undefined'; that is missing, too. */
const isRefused = (result: Result): result is StandardSchemaV1.FailureResult =>
  result.issues !== undefined || result.value === 'undefined';

function validate({ standard }: SchemaCodec, input: unknown): Awaitable<Result> {
  const result = standard['~standard'].validate(input);
  // The standard allows only a Promise; a thenable is turned into one.
  return 'then' in result ? Promise.resolve(result) : result;
}

/** @param input INVALID if what was sent could not be converted. */
function check(codec: SchemaCodec, input: unknown, at: Location, sentKeys?: SentKeys): unknown {
  if (input === INVALID) return INVALID;
  return after(validate(codec, input), result => {
    if (result.issues) return refuse(result.issues, at, input, sentKeys);
    return result.value === undefined ? UNDEFINED : result.value;
  });
}

/** Converts one text to the JSON that was meant by it. */
function fromText(text: string, shape: Shape, at: Location): unknown {
  const { takes } = shape;
  const trimmed = text.trim();
  if (takes.has('string')) return text;
  if (takes.has('number') && NUMBER.test(trimmed)) return Number(trimmed);
  if (takes.has('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  const json = takes.has('array') || takes.has('object') ? jsonLike(text) : undefined;
  if (json === TOO_DEEP) return at.failTooDeep();
  // One object may be a collection of one.
  if (json !== undefined) return plainJson(isJsonObject(json) && !takes.has('object') ? [json] : json, at);
  if (!takes.has('array')) return text;
  const parts = splitAtCommas(text);
  return fromSeveral(at.source === 'header' ? parts.map(part => part.trim()) : parts, shape, at);
}

const isJsonOf = (value: unknown, text: string): boolean =>
  typeof value === 'object' && value !== null && /^\s*[[{]/.test(text);

/** Converts values of one name, each of which is one item. */
function fromSeveral(values: readonly Sent[], shape: Shape, at: Location): unknown {
  if (at.isTooLong(values.length)) return INVALID;
  const items = values.map((one, index) => fromItem(one, shape.item(index), at));
  return items.includes(INVALID) ? INVALID : items;
}

const fromItem = (value: Sent, shape: Shape, at: Location): unknown =>
  typeof value === 'string' ? fromText(value, shape, at) : value;

/** A file by itself may be a collection of one. */
const fromOne = ([value]: readonly Sent[], { takes }: Shape): unknown => (takes.has('array') ? [value] : value);

const propertyOf = (shape: Shape, key: string): { readonly name: string; readonly shape: Shape } =>
  shape.properties().get(key.toLowerCase()) ?? { name: key, shape: shape.others() ?? UNKNOWN };

/** Converts the names below one name to objects and arrays. @param sentKeys gets the indexes that were sent. */
function fromNames(tree: NameTree, shape: Shape, at: Location, sentKeys: SentKeys): unknown {
  const { values } = tree;
  if (tree.isLeaf && !tree.isRoot) {
    const [only] = values;
    if (!tree.isOneValue || only === undefined) return fromSeveral(values, shape, at);
    return typeof only === 'string' ? fromText(only, shape, at) : fromOne(values, shape);
  }
  if (at.isTooDeep()) return INVALID;
  const inside = (key: string | number, below: NameTree, inner: Shape): unknown =>
    fromNames(below, inner, at.below(key), sentKeys);
  const isRecord = shape.takes.has('object') && !shape.takes.has('array');
  if (tree.isRoot || !tree.isArray || isRecord) {
    // A value must not be lost silently: the schema would never see it.
    if (tree.hasNameless && !tree.isRoot) return failNameless(at);
    const entries = tree.below().map(one => {
      const { name, shape: inner } = propertyOf(shape, one.key);
      return [name, inside(name, one, inner)] as const;
    });
    return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
  }
  if (tree.hasNameless) return failNameless(at);
  const indexed = tree.indexed(at);
  if (indexed === INVALID) return INVALID;
  const plain = fromSeveral(tree.unindexed, shape, at);
  if (plain === INVALID || at.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
  const items = [...(plain as unknown[]), ...indexed.map(([index, one]) => inside(index, one, shape.item(index)))];
  sentKeys.set(items, [...tree.unindexed.keys(), ...indexed.map(([index]) => index)]);
  return items.includes(INVALID) ? INVALID : items;
}

/** Refuses `items[].sku` and `items.sku`: a value must not be lost silently. */
export function failNameless(at: Location): Invalid {
  return at.fail(
    'invalid',
    'The names below do not say which item they belong to. Number the items, starting with [0].',
  );
}
