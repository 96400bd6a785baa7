import type { JsonSchema } from '../../binding/types/json-schema';

const ANY_TYPE = ['null', 'boolean', 'object', 'array', 'number', 'string'];

/** Returns the types that a schema names, and all if it names none; an integer is a number. */
export const typesOf = ({ type = ANY_TYPE }: JsonSchema): string[] =>
  [type as string | string[]].flat().map(one => (one === 'integer' ? 'number' : one));

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
    const others = (members as JsonSchema[]).filter(one => one['type'] !== 'null').map(withoutNull);
    return others.length === 1 ? { ...rest, ...others[0] } : { ...rest, [keyword]: others };
  }
  const { type, enum: values, items, ...rest } = schema;
  const types = Array.isArray(type) ? (type as string[]).filter(one => one !== 'null') : type;
  return {
    ...(types !== undefined && { type: Array.isArray(types) && types.length === 1 ? types[0] : types }),
    ...rest,
    ...(Array.isArray(values) && { enum: values.filter(one => one !== null) }),
    ...(items !== undefined && { items: isStructured(schema) ? items : withoutNull(items as JsonSchema) }),
  };
}
