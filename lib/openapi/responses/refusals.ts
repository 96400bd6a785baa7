import type { Endpoint } from '../../binding/endpoint';
import { IN_MEMORY } from '../../body/receive';
import { ALWAYS_HELD } from '../../body/stream/holding';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import { catalogue, type ProblemCode } from '../../problems/catalogue';

/** One operation: its middlewares, and the parts that its requests have. */
interface Refusing {
  readonly guard: ResolvedOptions | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Whether an endpoint reads the body. */
  readonly readsBody: boolean;
  /** Whether the guard reads the body. */
  readonly guardsBody: boolean;
  readonly hasQuery: boolean;
}

/** Lists the problems that the middlewares of an operation can answer with. */
export function refusalsOf({ guard, endpoints, readsBody, guardsBody, hasQuery }: Refusing): ProblemCode[] {
  const options = endpoints.map(({ options }) => options);
  // The parts of a form take memory besides their bytes, and its files may be stored on disk.
  const mayBeForm = guardsBody || (readsBody && options.some(({ allowMultipart }) => allowMultipart));
  const bytes = readsBody ? Math.max(...options.map(({ limits }) => limits.bodyBytes)) : 0;
  const may: readonly [boolean, ...ProblemCode[]][] = [
    [guard?.whenKeyMissing === 'reject', 'key-missing'],
    [guard !== undefined, 'key-repeated', 'request-in-flight', 'response-unavailable', 'store-unavailable'],
    [guard?.keyPattern !== undefined, 'key-malformed'],
    [guard?.whenKeyReused === 'reject', 'key-reused'],
    [options.some(({ allowAnonymous }) => !allowAnonymous), 'unauthenticated'],
    [endpoints.length > 0, 'validation-failed'],
    [readsBody, 'body-malformed', 'body-unsupported'],
    [readsBody || guardsBody, 'body-too-large'],
    [hasQuery, 'query-too-large'],
    [mayBeForm || bytes > ALWAYS_HELD, 'server-busy'],
    [mayBeForm || bytes > IN_MEMORY, 'storage-full', 'storage-unavailable'],
  ];
  return may.flatMap(([isPossible, ...codes]) => (isPossible ? codes : []));
}

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 0 } },
};

/** Describes refusals by their status. */
export function refusalResponses(codes: readonly ProblemCode[]): Record<string, object> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = catalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, own]): [string, object] => {
    const isTemporary = status === 503 || own.includes('request-in-flight');
    return [
      String(status),
      {
        description: own.map(code => `${catalogue[code].title}.`).join(' '),
        ...(isTemporary && { headers: retryAfter }),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ];
  });
  return Object.fromEntries(responses);
}
