import { namingErrors } from '../binding/declaration/declaration-error';
import { usuallyHasNoBody } from '../binding/plan/lookup';
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

/** Describes the responses of an operation. A status can be both a refusal and declared, with either content. */
export function responsesOf(
  operation: Operation,
  request: RequestObject,
  components: Components,
): Record<string, ResponseObject> {
  const refusals = refusalsOf(operation, request);
  const all = { ...refusals, ...declaredBy(operation, components) };
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => {
      const refusal = refusals[status];
      if (!refusal || refusal === response) return [status, response];
      const headers = response.headers ?? refusal.headers;
      return [status, { ...response, headers, content: { ...refusal.content, ...response.content } }];
    }),
  );
}

/** Describes the responses of the handler: those that the endpoint declares, else that there is one. */
function declaredBy({ guard, endpoint }: Operation, components: Components): Record<string, ResponseObject> {
  const schemas = components.schemasFor('response');
  const headers = guard && replayHeaders(guard);
  const declared = [...(endpoint?.responses ?? [])].map(([status, codec]): [string, ResponseObject] => {
    const schema = (): object => namingErrors(`response ${status}`, () => schemas.of(codec));
    // RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5: these have none, whatever the handler passes.
    const content = ![204, 205, 304].includes(status) && { content: { 'application/json': { schema: schema() } } };
    return [String(status), { description: descriptionOf(status), headers, ...content }];
  });
  const hasSuccess = declared.some(([status]) => /^[23]/.test(status));
  // Without content, a response has no body to generated clients.
  const anySuccess = { description: 'The response of the handler.', headers, content: { '*/*': { schema: {} } } };
  return { ...Object.fromEntries(declared), ...(!hasSuccess && { '2XX': anySuccess }) };
}

const descriptionOf = (status: number): string =>
  status < 300
    ? 'The request was carried out.'
    : status < 400
      ? 'The result is at another address.'
      : 'The request failed.';

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
  const hasQuery = request.parameters?.some(one => 'in' in one && one.in === 'query') === true;
  // The parts of a form take memory besides their bytes, and its files may be stored on disk.
  const mayBeForm = guardsBody || (readsBody && options?.allowMultipart === true);
  const bytes = readsBody && options ? options.limits.bodyBytes : 0;
  const may: readonly [boolean, ...ProblemCode[]][] = [
    [guard?.whenKeyMissing === 'reject', 'key-missing'],
    [guard !== undefined, 'key-repeated', 'request-in-flight', 'response-unavailable', 'store-unavailable'],
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
function refusalsOf(operation: Operation, request: RequestObject): Record<string, ResponseObject> {
  const codes = problemsOf(operation, request);
  const statuses = [...new Set(codes.map(code => catalogue[code].status))];
  return Object.fromEntries(
    statuses.map((status): [string, ResponseObject] => {
      const own = codes.filter(code => catalogue[code].status === status);
      const isTemporary = status === 503 || own.includes('request-in-flight');
      return [
        String(status),
        {
          description: own.map(code => `${catalogue[code].title}.`).join(' '),
          headers: isTemporary ? retryAfter : undefined,
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      ];
    }),
  );
}
