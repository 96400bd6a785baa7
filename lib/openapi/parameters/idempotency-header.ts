import { CodecTable } from '../../binding/plan/codec-table';
import { assertType } from '../../binding/types/assert-type';
import type { JsonSchema, Schemas } from '../../binding/types/json-schema';
import type { AnyType } from '../../binding/types/property-type';
import { bool, string } from '../../binding/types/scalar';
import { guid } from '../../binding/types/identifiers';
import { double, int } from '../../binding/types/numbers';
import type { ResolvedOptions } from '../../idempotency/options/options';
import { jsonSchemaPattern } from './key-pattern';

/** A parameter of OpenAPI (3.1, section 4.8.12). */
export interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly [field: string]: unknown;
}

/** Describes the header of the idempotency key. */
export function idempotencyHeader(options: ResolvedOptions, schemas: Schemas): HeaderParameter {
  const { headerName, whenKeyMissing, replayedHeader } = options;
  const { swaggerHeaderDescription, swaggerExampleGenerator } = options;
  const example = swaggerExampleGenerator?.();
  return {
    name: headerName,
    in: 'header',
    required: whenKeyMissing === 'reject',
    description: swaggerHeaderDescription ?? descriptionOf(options),
    schema: keySchema(options, example, schemas),
    ...(example !== undefined && { example }),
    // Tells the page of apiDocs() which header it fills, and which one marks a replay.
    'x-idempotency-key': { replayedHeader },
  };
}

function descriptionOf({ cacheDuration, whenKeyReused }: ResolvedOptions): string {
  const another = whenKeyReused === 'reject' ? 'is refused with 422' : 'runs';
  return (
    "A key of the client's choice, new for each operation and the same for its retries. A retry, which is the same " +
    `request with the same key, gets the stored response for ${durationOf(cacheDuration)}. Another request with this ` +
    `key ${another}.`
  );
}

function keySchema({ swaggerHeaderType, keyPattern }: ResolvedOptions, example: unknown, schemas: Schemas): JsonSchema {
  const type = swaggerHeaderType ?? typeLike(example);
  assertType(type);
  const schema = schemas.of(new CodecTable({}).complete(type));
  return { ...schema, ...(type === string && { minLength: 1 }), ...(keyPattern && patternOf(keyPattern, schema)) };
}

/** Describes the pattern of the key, in words where JSON Schema cannot say it. */
function patternOf(keyPattern: RegExp, { type, pattern: own }: JsonSchema): JsonSchema {
  const pattern = type === 'string' && own === undefined ? jsonSchemaPattern(keyPattern) : undefined;
  return pattern === undefined
    ? { description: `It must match the JavaScript regular expression ${String(keyPattern)}.` }
    : { pattern };
}

/** Returns the type that an example has the shape of. */
function typeLike(example: unknown): AnyType {
  if (typeof example === 'boolean') return bool;
  if (typeof example === 'number') return Number.isInteger(example) ? int : double;
  if (typeof example === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(example)) return guid;
  return string;
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
  [1, 'millisecond'],
] as const;

/** Writes a duration in the largest unit that it is a whole number of. */
function durationOf(ms: number): string {
  const [size, unit] = UNITS.find(([one]) => ms % one === 0) ?? [1, 'millisecond'];
  return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
}
