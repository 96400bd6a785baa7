import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import { inLargestUnit, type Unit } from '../values/largest-unit';

/** A parameter of OpenAPI (3.1, section 4.8.12), without the schema of its value. */
interface HeaderParameter {
  readonly name: string;
  readonly in: 'header';
  readonly required: boolean;
  readonly [field: string]: unknown;
}

/**
 * Describes the header of the idempotency key.
 * @param takesUuids true if any UUID may be a key.
 */
export function idempotencyHeader(options: ResolvedOptions, takesUuids: boolean): HeaderParameter {
  const { headerName, whenKeyMissing, replayedHeader, swaggerHeaderDescription } = options;
  return {
    name: headerName,
    in: 'header',
    required: whenKeyMissing === 'reject',
    description: swaggerHeaderDescription ?? descriptionOf(options),
    // Tells the page of apiDocs() which header the key has, if it can fill that, and which one marks a replay.
    'x-idempotency-key': { takesUuids, replayedHeader },
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

const LARGER_UNITS: readonly Unit[] = [
  [86_400_000, 'day', 'days'],
  [3_600_000, 'hour', 'hours'],
  [60_000, 'minute', 'minutes'],
  [1_000, 'second', 'seconds'],
];

const durationOf = (ms: number): string => inLargestUnit(ms, [1, 'millisecond', 'milliseconds'], LARGER_UNITS);
