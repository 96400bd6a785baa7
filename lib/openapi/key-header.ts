import { assertType } from '../binding/types/property-type';
import { ignoreRejection, isPromise } from '../basics/awaitable';
import { CodecTable } from '../binding/declaration/codec-table';
import type { Schemas } from '../binding/declaration/describe';
import type { JsonSchema } from '../binding/types/codec';
import type { ResolvedOptions } from '../idempotency/options/resolved-options';
import { plainJson } from './components';

/** Describes the header of the key. */
export function keyHeader(guard: ResolvedOptions, schemas: Schemas): object {
  const made = guard.swaggerExampleGenerator?.();
  if (isPromise(made)) {
    ignoreRejection(made);
    throw new TypeError('idempotency: swaggerExampleGenerator returned a promise. Return the example itself');
  }
  const example = made === undefined ? undefined : plainJson(made);
  const described = schemaOf(guard, example, schemas);
  const { type, format = 'uuid' } = described;
  const { keyPattern } = guard;
  const takesUuids = keyPattern === undefined && type === 'string' && format === 'uuid';
  // JSON Schema has no flags.
  const pattern =
    type === 'string' && /^u?$/.test(keyPattern?.flags ?? '')
      ? { pattern: keyPattern?.source }
      : { description: `It must match the JavaScript regular expression ${String(keyPattern)}.` };
  return {
    name: guard.headerName,
    in: 'header',
    required: guard.whenKeyMissing === 'reject',
    description: descriptionOf(guard),
    // Tells the page of apiDocs() which header the key has, if it can fill that, and which one marks a replay.
    'x-idempotency-key': { takesUuids, replayedHeader: guard.replayedHeader },
    schema: { ...described, ...(keyPattern && pattern) },
    example,
  };
}

/** Describes the values of a key: as its type says, else by the shape of the example, else as text. */
function schemaOf({ swaggerHeaderType: type }: ResolvedOptions, example: unknown, schemas: Schemas): JsonSchema {
  if (type !== undefined) {
    assertType(type);
    return schemas.of(new CodecTable({}).complete(type));
  }
  if (example !== undefined && typeof example !== 'string')
    return { type: Array.isArray(example) ? 'array' : Number.isInteger(example) ? 'integer' : typeof example };
  const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(example ?? '');
  return { type: 'string', ...(isUuid ? { format: 'uuid' } : { minLength: 1 }) };
}

function descriptionOf({ swaggerHeaderDescription, cacheDuration, whenKeyReused }: ResolvedOptions): string {
  const another = whenKeyReused === 'reject' ? 'is refused with 422' : 'runs';
  const seconds = cacheDuration / 1_000;
  return (
    swaggerHeaderDescription ??
    "A key of the client's choice, new for each operation and the same for its retries. A retry, which is the same " +
      `request with the same key, gets the stored response for ${seconds} seconds. Another request with ` +
      `this key ${another}.`
  );
}
