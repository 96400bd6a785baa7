import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, ignoreRejection, isPromise, type Awaitable } from '../../basics/awaitable';
import { isJsonObject, jsonLike, plainJson, TOO_DEEP, splitAtCommas } from '../reading/json-text';
import { INVALID, UNDEFINED, type Invalid, type Location } from '../reading/location';
import type { NameTree, Sent } from '../reading/name-tree';
import type { SchemaCodec } from './codec';
import { shapeOf, UNKNOWN, type Shape } from './schema-shape';

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Most characters of a schema's own message that a response repeats. */
const LONGEST_MESSAGE = 300;

/**
 * Standard Schemas (standardschema.dev): zod, valibot, arktype and others. A schema is asked which JSON it takes when
 * the middleware is made; what was sent is converted to that once, and checked by the schema once.
 */
export function schemaCodec(standard: StandardSchemaV1): SchemaCodec {
  return { kind: 'schema', name: standard['~standard'].vendor, standard, json: shapeOf(standard) };
}

export const schemaFromJson = (codec: SchemaCodec, value: unknown, at: Location): unknown =>
  check(codec, plainJson(value, at), at);

/** Reads the texts or the files of one name. @param isOneValue true for one text that may hold several items. */
export function schemaFromSent(codec: SchemaCodec, sent: readonly Sent[], isOneValue: boolean, at: Location): unknown {
  const value = fromSent(sent, isOneValue, codec.json, at);
  const [text] = sent;
  const isJson = isOneValue && typeof text === 'string' && typeof value === 'object' && /^\s*[[{]/.test(text);
  return check(codec, value, isJson ? at.asJson() : at);
}

export const schemaFromNames = (codec: SchemaCodec, tree: NameTree, at: Location, required: boolean): unknown =>
  required || isSchemaSent(codec, tree) ? check(codec, fromNames(tree, codec.json, at), at) : undefined;

/** Returns true if names were sent that a schema may take. */
export const isSchemaSent = ({ json }: SchemaCodec, tree: NameTree): boolean =>
  tree.below().some(({ key }) => json.property(key) !== undefined || (json.takes.has('array') && /^\d*$/.test(key)));

/** Returns true if a file of JSON under a name is read as JSON: the schema takes something else than text there. */
export function takesJsonAt({ json }: SchemaCodec, name: string): boolean {
  const takes = json.property(name)?.shape.takes ?? new Set();
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
function check(codec: SchemaCodec, input: unknown, at: Location): unknown {
  if (input === INVALID) return INVALID;
  return after(validate(codec, input), result => {
    if (result.issues) return refuse(result.issues, at, input);
    return result.value === undefined ? UNDEFINED : result.value;
  });
}

/** Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated. */
function refuse(issues: readonly StandardSchemaV1.Issue[], at: Location, input: unknown): Invalid {
  if (issues.length === 0) at.fail('schema', 'The value is not valid.');
  // One more than are listed shows that the list is cut.
  for (const { message, path = [] } of issues.slice(0, at.limits.failures + 1)) {
    let [here, inside] = [at, input];
    // An array subclass may have a `map` of its own.
    for (const part of Array.from(path, one => (typeof one === 'object' ? one.key : one))) {
      // A key may be content: that of a record can be the number of an account.
      if (at.isSecret && typeof part !== 'number') break;
      const holder = Object(inside) as Readonly<Record<PropertyKey, unknown>>;
      here = here.below(sentIndexes.get(holder)?.[Number(part)] ?? (typeof part === 'symbol' ? String(part) : part));
      inside = holder[part];
    }
    here.fail('schema', at.mayQuote ? message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.');
  }
  return INVALID;
}

/** The indexes that were sent for the items of an array: gaps are closed up in it. */
const sentIndexes = new WeakMap<object, readonly number[]>();

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

/** Converts values of one name, each of which is one item. */
function fromSeveral(values: readonly Sent[], shape: Shape, at: Location): unknown {
  if (at.isTooLong(values.length)) return INVALID;
  return valid(values.map((one, index) => (typeof one === 'string' ? fromText(one, shape.item(index), at) : one)));
}

const valid = (items: readonly unknown[]): unknown => (items.includes(INVALID) ? INVALID : items);

function fromSent(sent: readonly Sent[], isOneValue: boolean, shape: Shape, at: Location): unknown {
  const [only, another] = sent;
  const isText = typeof only === 'string';
  if (another !== undefined || only === undefined || (isText && !isOneValue)) return fromSeveral(sent, shape, at);
  // A file by itself may be a collection of one.
  return isText ? fromText(only, shape, at) : shape.takes.has('array') ? [only] : only;
}

/** Converts the names below one name to objects and arrays. */
function fromNames(tree: NameTree, shape: Shape, at: Location): unknown {
  if (tree.isLeaf && !tree.isRoot) return fromSent(tree.values, tree.isOneValue, shape, at);
  if (at.isTooDeep()) return INVALID;
  // A value must not be lost silently: the schema would never see it.
  if (tree.hasNameless && !tree.isRoot) return failNameless(at);
  const isRecord = shape.takes.has('object') && !shape.takes.has('array');
  if (tree.isRoot || !tree.isArray || isRecord) {
    const entries = tree.below().map(one => {
      const { name, shape: inner } = shape.property(one.key) ?? { name: one.key, shape: UNKNOWN };
      return [name, fromNames(one, inner, at.below(name))] as const;
    });
    return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
  }
  const indexed = tree.indexed(at);
  if (indexed === INVALID) return INVALID;
  const plain = fromSeveral(tree.unindexed, shape, at);
  if (plain === INVALID || at.isTooLong(tree.unindexed.length + indexed.length)) return INVALID;
  const below = indexed.map(([index, one]) => fromNames(one, shape.item(index), at.below(index)));
  const items = [...(plain as unknown[]), ...below];
  sentIndexes.set(items, [...tree.unindexed.keys(), ...indexed.map(([index]) => index)]);
  return valid(items);
}

/** Refuses `items[].sku` and `items.sku`: a value must not be lost silently. */
export const failNameless = (at: Location): Invalid =>
  at.fail('invalid', 'The names below do not say which item they belong to. Number the items, starting with [0].');
