import { memberSchema, mustBeSent } from '../binding/declaration/dto-schema';
import type { Source } from '../binding/declaration/property';
import type { SourceProperty } from '../binding/plan/source-properties';
import type { JsonSchema, Schemas } from '../binding/types/json-schema';

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
  const text = { ...withoutNull(schema), ...property.codec.schemaOfText?.(schemas) };
  return { name: property.name, required, schema: required ? notEmpty(text) : text };
}

/** An array without items is sent as nothing, outside of JSON, and nothing is refused where a value is required. */
function notEmpty(schema: JsonSchema): JsonSchema {
  const { minItems = 0, ...rest } = schema;
  if (schema['type'] !== 'array' || isStructured(schema)) return schema;
  return { ...rest, minItems: Math.max(1, minItems as number) };
}

/** Returns true if a source can have a value of a property. JSON holds no text that only a value parser reads. */
export const isReadIn = (source: Source, property: SourceProperty | undefined): property is SourceProperty =>
  property !== undefined && !(source === 'json' && property.codec.isTextOnly) && !property.codec.isBlockedIn?.(source);

/** Makes one value of two that are sent under one name. */
export const both = <V extends Value>(one: V, other: V, schemas = bothSchemas): V => ({
  ...one,
  required: one.required || other.required,
  schema: schemas(one.schema, other.schema),
});

/** Makes the schema of a value that two schemas allow. */
export function bothSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
  const isSame = JSON.stringify(one) === JSON.stringify(other);
  return isSame ? one : { allOf: [one, other] };
}

/** Makes the schema of a text that is read in two ways: `1` is an integer, a string and a list of one. */
export function bothTexts(one: JsonSchema, other: JsonSchema): JsonSchema {
  if (isAnyText(one)) return other;
  if (isAnyText(other)) return one;
  return typesOf(one).some(type => typesOf(other).includes(type))
    ? bothSchemas(one, other)
    : { description: 'It is read as each of these.', anyOf: [one, other] };
}

const isAnyText = (schema: JsonSchema): boolean => Object.keys(schema).join() === 'type' && schema['type'] === 'string';

const ANY_TYPE = ['null', 'boolean', 'object', 'array', 'number', 'string'];

/** Returns the types that a schema names, and all if it names none; an integer is a number. */
export const typesOf = ({ type = ANY_TYPE }: JsonSchema): string[] =>
  [type as string | string[]].flat().map(one => (one === 'integer' ? 'number' : one));

/** Leaves out null, which text cannot say; JSON text can, below its own level. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf, items, ...rest } = schema;
  if (Array.isArray(anyOf)) {
    const others = (anyOf as JsonSchema[]).filter(one => one['type'] !== 'null');
    return others.length === 1 ? { ...rest, ...others[0] } : { ...schema, anyOf: others };
  }
  const types = Array.isArray(type) ? (type as string[]).filter(one => one !== 'null') : type;
  return {
    ...(types !== undefined && { type: Array.isArray(types) && types.length === 1 ? types[0] : types }),
    ...rest,
    ...(Array.isArray(values) && { enum: values.filter(one => one !== null) }),
    ...(items !== undefined && { items: isStructured(schema) ? items : withoutNull(items as JsonSchema) }),
  };
}

/** Describes all names of a form or query at once: a union has no properties of its own. */
export const wholeOf = (
  { property, codec, required }: SourceProperty,
  schemas: Schemas,
): Value & { isExploded: true } => ({
  name: property,
  required,
  schema: (codec.schemaOfNames ?? codec.schema)?.(schemas) ?? {},
  isExploded: true,
});

/** Returns true if a value is an object, or a list of objects or lists: outside of JSON it is sent as JSON text. */
export function isStructured({ type, items, $ref, anyOf, allOf }: JsonSchema): boolean {
  const types = [type].flat();
  const item = (items ?? {}) as JsonSchema;
  if (types.includes('array')) return [item['type']].flat().includes('array') || isStructured(item);
  const parts = [anyOf, allOf].flatMap(one => (Array.isArray(one) ? (one as JsonSchema[]) : []));
  return $ref !== undefined || types.includes('object') || parts.some(isStructured);
}
