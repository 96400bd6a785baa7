import type { EndpointDescription } from '../binding/bind-request';
import type { ResolvedOptions } from '../idempotency/options/options';
import { catalogue, type ProblemCode } from '../problems/catalogue';
import { LOCATIONS } from '../problems/problem';

/** One operation: its middlewares, and the parts that its requests have. */
export interface Refusing {
  readonly guard: ResolvedOptions | undefined;
  readonly endpoints: readonly EndpointDescription[];
  /** Whether an endpoint reads the body. */
  readonly readsBody: boolean;
  /** Whether the guard reads the body. */
  readonly guardsBody: boolean;
  readonly hasQuery: boolean;
}

/** Lists the problems that the middlewares of an operation can answer with. */
export function refusalsOf({ guard, endpoints, readsBody, guardsBody, hasQuery }: Refusing): ProblemCode[] {
  const options = endpoints.map(({ endpoint }) => endpoint.options);
  const permissions = endpoints.flatMap(({ endpoint }) => endpoint.plan?.sourceProperties.get('permission') ?? []);
  const may: readonly [boolean, ...ProblemCode[]][] = [
    [guard?.whenKeyMissing === 'reject', 'key-missing'],
    [guard !== undefined, 'key-repeated', 'request-in-flight', 'response-unavailable', 'store-unavailable'],
    [guard?.keyPattern !== undefined, 'key-malformed'],
    [guard?.whenKeyReused === 'reject', 'key-reused'],
    [options.some(({ allowAnonymous }) => !allowAnonymous), 'unauthenticated'],
    [permissions.some(({ required }) => required), 'forbidden'],
    [endpoints.length > 0, 'validation-failed'],
    [readsBody, 'body-malformed', 'body-unsupported'],
    [readsBody || guardsBody, 'body-too-large'],
    [hasQuery, 'query-too-large'],
    [
      guardsBody || (readsBody && options.some(({ allowMultipart }) => allowMultipart)),
      'server-busy',
      'storage-full',
      'storage-unavailable',
    ],
  ];
  return may.flatMap(([isPossible, ...codes]) => (isPossible ? codes : []));
}

/** The components that the descriptions of refusals refer to. */
export const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'A refused request (RFC 9457).',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Identifies the kind of problem.' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What happened, and what to do.' },
      instance: { type: 'string', description: 'The path of the request.' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/InvalidValue' } },
    },
  },
  InvalidValue: {
    type: 'object',
    required: ['name', 'in', 'detail'],
    properties: {
      name: { type: 'string', description: 'Name that the value was looked up under.' },
      in: { type: 'string', enum: [...LOCATIONS] },
      pointer: { type: 'string', description: 'JSON Pointer (RFC 6901) into the body.' },
      detail: { type: 'string' },
    },
  },
};

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
