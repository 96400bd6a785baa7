import { CodecTable } from '../../binding/plan/codec-table';
import type { Codec } from '../../binding/types/codec';
import type { JsonSchema, Schemas } from '../../binding/types/json-schema';
import { long } from '../../binding/types/numbers';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import { isAnyText } from '../schemas/both';
import { schemaLike } from '../schemas/schema-like';
import type { KeyExample } from './key-example';
import { jsonSchemaPattern } from './key-pattern';

/**
 * Describes the values of a key: as its type says, else by the shape of the example, else as text.
 * @param type the codec of `swaggerHeaderType`.
 */
export function keySchema(
  { keyPattern }: ResolvedOptions,
  type: Codec | undefined,
  example: KeyExample | undefined,
  schemas: Schemas,
): JsonSchema {
  const schema = type ? schemas.of(type) : example ? shapeOf(example, schemas) : { type: 'string' };
  // A blank key counts as missing.
  return { ...schema, ...(isAnyText(schema) && { minLength: 1 }), ...(keyPattern && patternOf(keyPattern, schema)) };
}

function shapeOf({ made, json }: KeyExample, schemas: Schemas): JsonSchema {
  // A bigint that is text in the example: it would be rounded as a number.
  const isLong = typeof made === 'bigint' && typeof json === 'string' && BigInt.asIntN(64, made) === made;
  return isLong ? schemas.of(new CodecTable({}).complete(long)) : schemaLike(json);
}

/** Describes the pattern of the key, in words where JSON Schema cannot say it. */
function patternOf(keyPattern: RegExp, { type, pattern: own }: JsonSchema): JsonSchema {
  const pattern = type === 'string' && own === undefined ? jsonSchemaPattern(keyPattern) : undefined;
  return pattern === undefined
    ? { description: `It must match the JavaScript regular expression ${String(keyPattern)}.` }
    : { pattern };
}
