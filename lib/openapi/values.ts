import { memberSchema, mustBeSent, schemaOfText as textOf, type Schemas } from '../binding/declaration/describe';
import type { SourceProperty } from '../binding/plan/source-properties';
import { isTextOnly, type Codec, type JsonSchema } from '../binding/types/codec';
import type { Source } from '../problems/problem';

/** A value of a request, as the document describes it: its name, whether it must be sent, and its schema. */
export interface Value {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** Makes the schemas of what one source reads. */
export type SchemasFrom = (source: Source) => Schemas;

/** Describes the value of a property as one source reads it; undefined if the source does not. */
export function valueOf(property: SourceProperty | undefined, source: Source, from: SchemasFrom): Value | undefined {
  if (!isReadIn(source, property)) return undefined;
  const schemas = from(source);
  const schema = memberSchema(property, schemas);
  const required = mustBeSent(property);
  if (source === 'json') return { name: property.name, required, schema };
  const text = schemaOfText(property.codec, schema, schemas);
  return { name: property.name, required, schema: required ? notEmpty(text) : text };
}

/**
 * Describes a value outside of JSON.
 * @param schema what describes it in JSON.
 */
export function schemaOfText(codec: Codec, schema: JsonSchema, schemas: Schemas): JsonSchema {
  const own = textOf(codec, schemas);
  if (!own) return withoutNull(schema);
  const { description, default: value } = schema;
  // The JSON of a list or an object is not the text described here.
  const text = typeof value === 'object' ? undefined : value;
  return { ...own, ...(description !== undefined && { description }), default: text };
}

/** Requires at least one item: outside of JSON, an empty array cannot be sent. */
function notEmpty(schema: JsonSchema): JsonSchema {
  const { minItems = 0, ...rest } = schema;
  if (schema['type'] !== 'array' || isStructured(schema)) return schema;
  return { ...rest, minItems: Math.max(1, minItems as number) };
}

/** Returns true if a source can have a value of a property. JSON holds no text that only a value parser reads. */
export const isReadIn = (source: Source, property: SourceProperty | undefined): property is SourceProperty =>
  property !== undefined && !(source === 'json' && isTextOnly(property.codec));

/**
 * Leaves one value of each name, of which a client sends one. If several properties read it, the first describes it.
 * @param keyOf makes one key of the names that are the same.
 */
export function oneOfEach<V extends Value>(values: readonly V[], keyOf: (value: V) => string): V[] {
  const byKey = new Map<string, V>();
  for (const value of values) {
    const first = byKey.get(keyOf(value));
    byKey.set(keyOf(value), first ? { ...first, required: first.required || value.required } : value);
  }
  return [...byKey.values()];
}

/** Returns true if a value is an object, or a list of objects or lists: outside of JSON it is sent as JSON text. */
export function isStructured({ type, items, $ref, anyOf, oneOf, allOf }: JsonSchema): boolean {
  const types = [type].flat();
  const item = (items ?? {}) as JsonSchema;
  if (types.includes('array')) return [item['type']].flat().includes('array') || isStructured(item);
  const parts = [anyOf, oneOf, allOf].flatMap(one => (Array.isArray(one) ? (one as JsonSchema[]) : []));
  return $ref !== undefined || types.includes('object') || parts.some(isStructured);
}

/** Removes null, which text cannot express, also as the default; inside JSON text it stays. */
export function withoutNull(given: JsonSchema): JsonSchema {
  const { default: value, ...others } = given;
  const schema = value === null ? others : given;
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: members, ...rest } = schema;
    if (!Array.isArray(members)) continue;
    const texts = (members as JsonSchema[]).filter(one => one['type'] !== 'null').map(withoutNull);
    return texts.length === 1 ? { ...rest, ...texts[0] } : { ...rest, [keyword]: texts };
  }
  const { type, enum: values, items } = schema;
  const [only, ...further] = [type].flat().filter(one => one !== 'null');
  return {
    ...schema,
    type: further.length === 0 ? only : [only, ...further],
    enum: Array.isArray(values) ? values.filter(one => one !== null) : undefined,
    items: items === undefined || isStructured(schema) ? items : withoutNull(items as JsonSchema),
  };
}

/**
 * Returns true for an object whose values are all scalars, which a query has a style for.
 * @param resolved returns what a reference leads to.
 */
export function isFlat(schema: JsonSchema, resolved: (schema: JsonSchema) => JsonSchema): boolean {
  const { anyOf, oneOf, properties, additionalProperties: others, type } = resolved(schema);
  const parts = anyOf ?? oneOf;
  if (Array.isArray(parts)) return (parts as JsonSchema[]).every(one => isFlat(one, resolved));
  const values = [...Object.values(Object(properties) as JsonSchema), Object(others)] as JsonSchema[];
  return type === 'object' && !values.some(one => isStructured(one) || [one['type']].flat().includes('array'));
}
