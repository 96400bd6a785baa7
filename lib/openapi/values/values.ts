import { memberSchema, mustBeSent, schemaOfNames, schemaOfText as textOf } from '../../binding/declaration/describe';
import type { Source } from '../../problems/problem';
import type { SourceProperty } from '../../binding/plan/source-properties';
import { isTextOnly, type Codec } from '../../binding/types/codec';
import type { JsonSchema, Schemas } from '../../binding/types/json-schema';
import { bothSchemas } from '../schemas/both';
import { isStructured, withoutNull } from '../schemas/value-types';

/** A value of a request, as the document describes it: its name, whether it must be sent, and its schema. */
export interface Value {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  /** Pattern of the names, if there are many: `items[0].sku`, `items[1].sku`. The name is the first of them then. */
  readonly pattern?: string;
}

/** Describes the value of a property as one source reads it; undefined if the source does not. */
export function valueOf(property: SourceProperty | undefined, source: Source, schemas: Schemas): Value | undefined {
  if (!isReadIn(source, property)) return undefined;
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
  const text = textOf(codec, schemas);
  if (!text) return withoutNull(schema);
  const { description, default: value } = schema;
  return {
    ...text,
    ...(description !== undefined && { description }),
    // The JSON of a list or an object is not the text described here.
    ...(typeof value !== 'object' && value !== undefined && { default: value }),
  };
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

/** Makes one value of two that are sent under one name. */
export const both = <V extends Value>(one: V, other: V, schemas = bothSchemas): V => ({
  ...one,
  required: one.required || other.required,
  schema: schemas(one.schema, other.schema),
});

/** Describes all names of a form or query at once: a union has no properties of its own. */
export const wholeOf = (
  { property, codec, required }: SourceProperty,
  schemas: Schemas,
): Value & { isExploded: true } => ({
  name: property,
  required,
  schema: schemaOfNames(codec, schemas),
  isExploded: true,
});
