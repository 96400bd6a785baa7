import type { StandardSchemaV1 } from '@standard-schema/spec';
import { after, isPromise, recovering, type Awaitable } from '../../basics/awaitable';
import { jsonInText, jsonLike, plainJson } from '../reading/json-text';
import { INVALID, type Invalid, type Location } from '../reading/failures';
import { JsonPart, NameTree, type IndexedItem } from '../reading/name-tree';
import type { JsonSchema, SchemaCodec, Shape } from './codec';

/** Nothing is known: text is text, and several texts are an array. */
const UNKNOWN: Shape = { takes: new Set(), item: () => UNKNOWN, property: name => ({ name, shape: UNKNOWN }) };

/**
 * Standard Schemas (standardschema.dev): zod, valibot, arktype and others. When the middleware is made, a schema is
 * asked which JSON it takes, by its JSON Schema, which zod and arktype have. What was sent is converted to that once,
 * and checked by the schema once.
 */
export function schemaCodec(standard: StandardSchemaV1): SchemaCodec {
  const { vendor, jsonSchema } = standard['~standard'] as StandardSchemaV1.Props & {
    readonly jsonSchema?: { readonly input: (options: object) => unknown };
  };
  // What JSON Schema cannot say, such as a Date of zod, is open then, and no error.
  const asked = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } };
  const root = recovering<unknown>(
    () => jsonSchema?.input(asked),
    () => undefined,
  );
  return { kind: 'schema', name: vendor, standard, json: shapeOf([root], root) };
}

/** Returns the members of a union, or the one node, without references; none if one of them takes anything. */
function membersOf(node: unknown, root: unknown): readonly JsonSchema[] {
  const known = Object(node) as JsonSchema;
  const { $ref, type, anyOf, oneOf, allOf, enum: values = 'const' in known ? [known['const']] : [] } = known;
  // A JSON Pointer (RFC 6901, section 6).
  const path = typeof $ref === 'string' ? decodeURIComponent($ref).split('/').slice(1) : undefined;
  const names = path?.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (names) return membersOf(names.reduce(inside, root), root);
  if (type !== undefined) return [{ ...known, type: [type].flat() }];
  const members = [anyOf ?? oneOf ?? allOf ?? []].flat().map(one => membersOf(one, root));
  if (members.length > 0) return allOf || members.every(one => one.length > 0) ? members.flat() : [];
  const types = [values].flat().map(one => typeof one);
  return types.length > 0 ? [{ type: types }] : [];
}

const inside = (node: unknown, name: PropertyKey): unknown => (Object(node) as Record<PropertyKey, unknown>)[name];

const inItems = ({ items }: JsonSchema): unknown => items;

/** @param given one node, or several: a property may be in several members of a union. */
function shapeOf(given: readonly unknown[], root: unknown): Shape {
  const nodes = given.flatMap(node => membersOf(node, root));
  if (nodes.length === 0) return UNKNOWN;
  const types = nodes.flatMap(({ type }) => type);
  return {
    takes: new Set(types.map(type => (type === 'integer' ? 'number' : type))),
    item: () => shapeOf(nodes.map(inItems), root),
    property(sent) {
      const found = nodes.flatMap(({ properties = {}, additionalProperties: others = false }) => {
        const own = Object.entries(properties as JsonSchema).find(([one]) => one.toLowerCase() === sent.toLowerCase());
        return own ? [own] : others === false ? [] : [[sent, others] as const];
      });
      const shapes = found.map(([, node]) => node);
      return found[0] && { name: found[0][0], shape: shapeOf(shapes, root) };
    },
  };
}

export const schemaFromJson = (codec: SchemaCodec, value: unknown, at: Location): unknown =>
  check(codec, plainJson(value, at), at);

/** Reads what was sent under a name, and below it if those are names that the schema may take. */
export function schemaFromNames(codec: SchemaCodec, tree: NameTree, at: Location, required: boolean): unknown {
  const { values, onlyText = '' } = tree;
  const { takes } = codec.json;
  const isBelow = isSchemaSent(codec, tree);
  const isText = takes.size === 0 || takes.has('string');
  const isNothing = tree.isBlank ? isBelow || !isText : !isBelow && values.length === 0;
  if (!required && isNothing) return undefined;
  const sent = isBelow || tree.isLeaf || values.length === 0 ? tree : NameTree.of(values);
  const value = fromNames(sent, codec.json, at);
  return check(codec, value, typeof value === 'object' && /^\s*[[{]/.test(onlyText) ? at.asJson() : at);
}

/** One JSON value may be a collection of one, as one text may. */
export const inArray = ({ takes }: Shape, value: unknown): unknown =>
  takes.has('array') && !takes.has('object') && value !== null && !Array.isArray(value) ? [value] : value;

/** Returns true if names were sent that a schema may take. */
export const isSchemaSent = ({ json }: SchemaCodec, tree: NameTree): boolean =>
  tree.below().some(one => json.property(one.key) !== undefined || (json.takes.has('array') && one.isItem));

/** Returns true if a file of JSON under a name is read as JSON: the schema takes something else than text there. */
export function takesJsonAt({ json }: SchemaCodec, name: string): boolean {
  const takes = json.property(name)?.shape.takes ?? new Set();
  return takes.size > 0 && !takes.has('string');
}

/** Returns the value of a schema if none was sent, such as a default of its own. @param detail of the failure. */
export const nothingOfSchema = (codec: SchemaCodec, at: Location, detail?: string): unknown =>
  after(validate(codec, undefined), result => (isRefused(result) ? at.failMissing(detail) : result.value));

/** Returns true if a request without the value is refused, as far as that is known without waiting. */
export function requiresValue(codec: SchemaCodec): boolean {
  const result = recovering<Result | undefined>(
    () => validate(codec, undefined),
    () => undefined,
  );
  return !result || isPromise(result) || isRefused(result);
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
    if (result.issues) return refuse(result.issues, at);
    // It was sent, so it does not count as missing.
    return result.value === undefined ? INVALID : result.value;
  });
}

/** Most characters of a schema's own message that a response repeats. */
const LONGEST_MESSAGE = 300;

/** Reports the issues under their paths. A schema's own message is dropped if the value must not be repeated. */
function refuse(issues: readonly StandardSchemaV1.Issue[], at: Location): Invalid {
  if (issues.length === 0) at.fail('schema', 'The value is not valid.');
  // One more than are listed shows that the list is cut.
  for (const { message, path = [] } of issues.slice(0, at.failures.limits.failures + 1)) {
    let here = at;
    // An array subclass may have a `map` of its own.
    for (const part of Array.from(path, one => (typeof one === 'object' ? one.key : one))) {
      // A key may be content: that of a record can be the number of an account.
      if (at.isSecret && typeof part !== 'number') break;
      here = here.below(typeof part === 'symbol' ? String(part) : part);
    }
    here.fail('schema', at.mayQuote ? message.slice(0, LONGEST_MESSAGE) : 'The value is not valid.');
  }
  return INVALID;
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Converts one text to the JSON that was meant by it. */
function fromText(text: string, shape: Shape, at: Location): unknown {
  const { takes } = shape;
  const trimmed = text.trim();
  if (takes.has('string')) return text;
  if (takes.has('number') && NUMBER.test(trimmed)) return Number(trimmed);
  if (takes.has('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  const json = takes.has('array') || takes.has('object') ? jsonLike(text) : undefined;
  if (json !== undefined) return plainJson(inArray(shape, json), at);
  if (!takes.has('array')) return text;
  return fromItems(NameTree.itemsIn(text, at), shape, at);
}

/** Converts what was sent under a name and below it. A file by itself may be a collection of one. */
function fromNames(tree: NameTree, shape: Shape, at: Location): unknown {
  const { values, isLeaf } = tree;
  const { takes } = shape;
  const only = isLeaf && values.length === 1 ? values[0] : undefined;
  if (only instanceof JsonPart)
    return jsonInText(only.text, at, (value, below) => plainJson(inArray(shape, value), below));
  if (typeof only === 'string') return fromText(only, shape, at);
  if (only && !takes.has('array')) return only;
  if (
    isLeaf ? values.length > 0 : tree.below().every(one => one.isItem) && (takes.has('array') || !takes.has('object'))
  ) {
    const items = tree.items(at);
    return items === INVALID ? INVALID : fromItems(items, shape, at);
  }
  const entries = tree.below().map(one => {
    const { name, shape: below } = shape.property(one.key) ?? { name: one.key, shape: UNKNOWN };
    return [name, fromNames(one, below, at.below(name))] as const;
  });
  return entries.some(([, value]) => value === INVALID) ? INVALID : Object.fromEntries(entries);
}

function fromItems(items: readonly IndexedItem[], shape: Shape, at: Location): unknown {
  if (at.isTooLarge(items.length)) return INVALID;
  const all = items.map(([index, one]) => fromNames(one, shape.item(), at.below(index)));
  return all.includes(INVALID) ? INVALID : all;
}
