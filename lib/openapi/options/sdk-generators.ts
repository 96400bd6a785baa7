import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import type { Rule } from '../../options/check';

/** A generator of client libraries that reads extensions about idempotency keys and retries. */
export type SdkGenerator = 'fern' | 'speakeasy';

const ALL: readonly unknown[] = ['fern', 'speakeasy'] satisfies SdkGenerator[];

export const sdkGeneratorsRule: Rule = {
  expects: "an array of 'fern' and 'speakeasy'",
  accepts: value => Array.isArray(value) && value.every(one => ALL.includes(one)),
};

/** The extensions of a document, by where they are written. */
export interface SdkExtensions {
  /** At the top of the document. */
  readonly document: (guards: readonly ResolvedOptions[]) => object;
  /** In an operation. */
  readonly operation: (guard: ResolvedOptions, declared: ReadonlySet<number>) => object;
  /** In the parameter that is the key. */
  readonly keyHeader: object;
}

export function sdkExtensions(generators: readonly SdkGenerator[] = []): SdkExtensions {
  const isFor = (one: SdkGenerator): boolean => generators.includes(one);
  return {
    document: guards => (isFor('fern') && guards.length > 0 ? fernHeaders(guards) : {}),
    operation: (guard, declared) => ({
      ...(isFor('fern') && { 'x-fern-idempotent': true }),
      ...(isFor('speakeasy') && isSafeToRetry(guard) && { 'x-speakeasy-retries': speakeasyRetries(guard, declared) }),
    }),
    // Fern takes the header from the list at the top. It would be an argument of the method a second time.
    keyHeader: isFor('fern') ? { 'x-fern-ignore': true } : {},
  };
}

/** Lists the headers of keys, each once; a library of Fern has an option for each. */
function fernHeaders(guards: readonly ResolvedOptions[]): object {
  const names = new Map(guards.map(({ headerName }) => [headerName.toLowerCase(), headerName]));
  return {
    'x-fern-idempotency-headers': [...names.values()].map(header => ({
      header,
      name: header.toLowerCase().replace(/[^a-z0-9]+/g, '_'),
    })),
  };
}

/** Returns true if a second attempt never runs the handler again: no request runs without key or lease. */
const isSafeToRetry = ({ whenKeyMissing, whenStoreFails }: ResolvedOptions): boolean =>
  whenKeyMissing === 'reject' && whenStoreFails === 'reject';

/** Statuses of proxies and rate limiters, and of `idempotency()` before the handler runs. */
const TEMPORARY = ['429', '502', '503', '504'];

/**
 * Describes when a library of Speakeasy sends a request again. It sends the same arguments, and so the same key. It
 * compares the elapsed time before each pause, so the last attempt begins `maxInterval` after `maxElapsedTime` at the
 * latest, which is before the first response expires. If the process of the first attempt has died, the retries go on
 * until its lease has expired.
 */
function speakeasyRetries({ cacheDuration, leaseDuration }: ResolvedOptions, declared: ReadonlySet<number>): object {
  const maxInterval = Math.min(10_000, Math.floor(cacheDuration / 4));
  return {
    strategy: 'backoff',
    backoff: {
      initialInterval: Math.min(500, maxInterval),
      maxInterval,
      maxElapsedTime: Math.min(Math.max(60_000, 2 * leaseDuration), Math.floor(cacheDuration / 2)),
      exponent: 1.5,
    },
    // 409: the first attempt is in flight, unless the handler itself answers so.
    statusCodes: declared.has(409) ? TEMPORARY : ['409', ...TEMPORARY],
    retryConnectionErrors: true,
  };
}
