import type { JsonSchema } from '../../binding/types/json-schema';

/** Formats of text that an example shows. */
const FORMATS: readonly (readonly [format: string, pattern: RegExp])[] = [
  ['uuid', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i],
  // What JSON has for a Date.
  ['date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.]\d{3}Z$/],
];

/** Makes the schema of the shape that a JSON value has. */
export function schemaLike(json: unknown): JsonSchema {
  if (typeof json === 'boolean') return { type: 'boolean' };
  if (typeof json === 'number') return numberLike(json);
  if (typeof json === 'string') return textLike(json);
  if (Array.isArray(json)) return { type: 'array', items: itemsLike(json) };
  return typeof json === 'object' && json !== null ? objectLike(json) : { type: 'null' };
}

function numberLike(value: number): JsonSchema {
  // 2 ** 63 and more has no place in 64 bits, and is written with an exponent sooner or later.
  if (!Number.isInteger(value) || Math.abs(value) >= 2 ** 63) return { type: 'number', format: 'double' };
  return { type: 'integer', format: (value | 0) === value ? 'int32' : 'int64' };
}

function textLike(text: string): JsonSchema {
  const [format] = FORMATS.find(([, pattern]) => pattern.test(text)) ?? [];
  return { type: 'string', ...(format !== undefined && { format }) };
}

function itemsLike(items: readonly unknown[]): JsonSchema {
  const byText = new Map(items.map(schemaLike).map(schema => [JSON.stringify(schema), schema]));
  const [only = {}, ...others] = byText.values();
  return others.length > 0 ? { anyOf: [only, ...others] } : only;
}

function objectLike(object: object): JsonSchema {
  const properties = Object.entries(object).map(([name, value]) => [name, schemaLike(value)] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(properties.length > 0 && { required: properties.map(([name]) => name) }),
  };
}
