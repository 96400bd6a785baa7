import { namingErrors } from '../binding/declaration/declarations';
import { usuallyHasNoBody } from '../binding/plan/plan';
import { IN_MEMORY } from '../body/receive';
import { ALWAYS_HELD } from '../body/stream/holding';
import type { ResolvedOptions } from '../idempotency/options/resolved-options';
import { catalogue, type ProblemCode } from '../problems/catalogue';
import type { Components } from './components';
import type { Operation, RequestObject } from './operation';

interface ResponseObject {
  readonly description: string;
  readonly headers?: object | undefined;
  readonly content?: object;
}

/** Responses by status. */
type Responses = Record<string, ResponseObject>;

/** Describes the responses of an operation. A status can be both a refusal and declared, with either content. */
export function responsesOf(operation: Operation, request: RequestObject, components: Components): Responses {
  const responses = refusalsOf(operation, request);
  for (const [status, declared] of Object.entries(declaredBy(operation, components))) {
    const { headers, content } = responses[status] ?? {};
    const both = content && { headers: declared.headers ?? headers, content: { ...content, ...declared.content } };
    responses[status] = { ...declared, ...both };
  }
  return responses;
}

/** Describes the responses of the handler: those that the endpoint declares, else that there is one. */
function declaredBy({ guard, endpoint }: Operation, components: Components): Responses {
  const schemas = components.schemasFor({ direction: 'response' });
  const headers = guard && replayHeaders(guard);
  const responses: Responses = {};
  for (const [status, codec] of endpoint?.responses ?? []) {
    // RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5: these have none, whatever the handler passes.
    const hasContent = ![204, 205, 304].includes(status);
    const schema = hasContent && namingErrors(`response ${status}`, () => schemas.of(codec));
    responses[status] = {
      description: DESCRIPTIONS[Math.floor(status / 100)] ?? 'The request failed.',
      headers,
      ...(schema && { content: { 'application/json': { schema } } }),
    };
  }
  // Without content, a response has no body to generated clients.
  if (!Object.keys(responses).some(status => /^[23]/.test(status)))
    responses['2XX'] = { description: 'The response of the handler.', headers, content: { '*/*': { schema: {} } } };
  return responses;
}

/** Descriptions by the first digit of a status. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  2: 'The request was carried out.',
  3: 'The result is at another address.',
};

/** Describes the headers that tell a replay from a first response. */
function replayHeaders({ headerName, addHeaderToResponse, replayedHeader }: ResolvedOptions): object {
  const key = { description: 'The key of the request.', schema: { type: 'string' } };
  const replayed = {
    description: 'true if the response is that of an earlier request with this key.',
    schema: { type: 'string', enum: ['true'] },
  };
  return {
    ...(addHeaderToResponse && { [headerName]: key }),
    ...(replayedHeader !== false && { [replayedHeader]: replayed }),
  };
}

/** Lists the problems that the middlewares of an operation can answer with. */
function problemsOf({ guard, endpoint, route }: Operation, request: RequestObject): readonly ProblemCode[] {
  const options = endpoint?.options;
  const readsBody = request.requestBody !== undefined;
  const guardsBody = guard?.ignoreRequestBody === false && !usuallyHasNoBody(route.method);
  const hasQuery = request.parameters?.some(one => one && 'in' in one && one.in === 'query') === true;
  // The parts of a form take memory besides their bytes, and its files may be stored on disk.
  const mayBeForm = guardsBody || (readsBody && options?.allowMultipart === true);
  const bytes = readsBody && options ? options.limits.bodyBytes : 0;
  const may: readonly [boolean, ...ProblemCode[]][] = [
    [guard?.whenKeyMissing === 'reject', 'key-missing'],
    [guard !== undefined, 'key-repeated', 'request-in-flight', 'response-unavailable', 'store-unavailable'],
    [guard?.whenOwnerDies === 'refuse', 'outcome-unknown'],
    [guard?.keyPattern !== undefined, 'key-malformed'],
    [guard?.whenKeyReused === 'reject', 'key-reused'],
    [options?.allowAnonymous === false, 'unauthenticated'],
    [endpoint !== undefined, 'validation-failed'],
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

/** Describes the refusals by their status. */
function refusalsOf(operation: Operation, request: RequestObject): Responses {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const refusals: Responses = {};
  for (const code of problemsOf(operation, request)) {
    const { status, title } = catalogue[code];
    const { description = '', headers } = refusals[status] ?? {};
    const isTemporary = status === 503 || code === 'request-in-flight';
    const sentences = `${description} ${title}.`.trim();
    refusals[status] = { description: sentences, headers: isTemporary ? retryAfter : headers, content };
  }
  return refusals;
}
