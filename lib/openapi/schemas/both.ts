import type { JsonSchema } from '../../binding/types/json-schema';
import { typesOf } from './value-types';

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

/** Returns true if a schema allows every text, and nothing else. */
export const isAnyText = (schema: JsonSchema): boolean =>
  Object.keys(schema).join() === 'type' && schema['type'] === 'string';
