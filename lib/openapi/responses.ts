import { STATUS_CODES } from 'node:http';
import type { Request, Response } from 'express';
import { namingErrors } from '../binding/declaration/declarations';
import { mustBeSent } from '../binding/declaration/describe';
import { BinderContext } from '../binding/input/binder-context';
import { lookupOf } from '../binding/plan/plan';
import { validationProblem } from '../binding/reading/failures';
import { readMissing } from '../binding/bind-request';
import { REFUSALS } from '../idempotency/decide';
import { keyMissing } from '../idempotency/identity/key';
import type { ResolvedOptions } from '../idempotency/options/resolved-options';
import { catalogue, type ProblemCode } from '../problems/catalogue';
import { Problem, type ProblemLocation } from '../problems/problem';
import type { Components } from './components';
import type { Operation } from './operations';
import type { RequestObject } from './requests';

interface ResponseObject {
  readonly description: string;
  readonly headers?: object | undefined;
  readonly content?: Readonly<Record<string, object>>;
}

/** Responses by status. */
type Responses = Record<string, ResponseObject>;

/** Describes the responses of an operation. A status can be both a refusal and declared, with either content. */
export function responsesOf(operation: Operation, request: RequestObject, components: Components): Responses {
  const responses = declaredBy(operation, components);
  const refuse = (place: string, description: string, isTemporary: boolean, example?: object): void => {
    const known = responses[place];
    responses[place] = {
      description: known ? `${known.description} ${description}` : description,
      headers: isTemporary ? { ...retryAfter, ...known?.headers } : known?.headers,
      content: {
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example },
        ...known?.content,
      },
    };
  };
  const codes = problemsOf(operation, request);
  for (const status of new Set(codes.map(code => catalogue[code].status))) {
    const ofStatus = codes.filter(code => catalogue[code].status === status);
    const titles = ofStatus.map(code => `${catalogue[code].title}.`).join(' ');
    refuse(String(status), titles, status === 409, ofStatus.flatMap(code => exampleOf(code, operation) ?? [])[0]);
  }
  if (codes.length === 0) return responses;
  for (const status of RARE) if (status in responses) refuse(String(status), titleOf(status), status === 503);
  refuse('default', `A problem that hardly any client meets: ${RARE.map(titleOf).join(', ')}.`, true);
  return responses;
}

/** Statuses of refusals that hardly any client meets: one response describes them all. */
const RARE = [413, 414, 415, 503, 507];
const titleOf = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`;

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 0 } },
};

/** Makes a problem as a client of the operation gets it, by the same code; undefined for one without an example. */
function exampleOf(code: ProblemCode, operation: Operation): object | undefined {
  const { guard } = operation;
  if (code === 'key-missing' && guard) return keyMissing(guard.headerName).toBody();
  if (code === 'request-in-flight') return new Problem(...REFUSALS.conflicted).toBody();
  if (code === 'key-reused') return new Problem(...REFUSALS.reused).toBody();
  return code === 'validation-failed' ? withoutOne(operation) : undefined;
}

const FROM_CLIENT: ReadonlySet<ProblemLocation> = new Set(['json', 'form', 'query', 'header', 'cookie']);

/** Refuses a request that lacks one value; undefined if none must be sent. The path and the caller have theirs. */
function withoutOne({ endpoint, method, parameters }: Operation): object | undefined {
  const plan = endpoint?.plan;
  if (!plan) return undefined;
  const params = Object.fromEntries(parameters.map(({ key = '' }) => [key, key]));
  const req = { method, headers: {}, params } as unknown as Request;
  const context = new BinderContext(req, Object(undefined) as Response, endpoint);
  const sent = plan.members.filter(mustBeSent);
  const lacking = sent.find(({ property }) => FROM_CLIENT.has(lookupOf(property, plan, req)?.source ?? 'body'));
  if (!lacking) return undefined;
  readMissing(context, plan, lacking);
  const isWhole = lacking.kind === 'fromBody';
  return validationProblem(context.noted, undefined, isWhole ? 'the request has no body' : undefined).toBody();
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
      description: status < 300 ? 'The request was carried out.' : status < 400 ? ELSEWHERE : 'The request failed.',
      headers,
      ...(schema && { content: { 'application/json': { schema } } }),
    };
  }
  // Without content, a response has no body to generated clients, some of which do not compile with 2XX.
  const content = { '*/*': { schema: {} } };
  if (!Object.keys(responses).some(status => /^[23]/.test(status))) {
    responses['200'] = { description: 'The response of the handler.', headers, content };
    responses['default'] = { description: 'The handler may answer with another status.', headers, content };
  }
  return responses;
}

const ELSEWHERE = 'The result is at another address.';

/** Describes the headers that tell a replay from a first response. */
function replayHeaders({ headerName, addHeaderToResponse, replayedHeader }: ResolvedOptions): object {
  const description = 'true if the response is that of an earlier request with this key.';
  const replayed = { description, schema: { type: 'string', enum: ['true'] } };
  const key = { description: 'The key of the request.', schema: { type: 'string' } };
  return {
    ...(addHeaderToResponse && { [headerName]: key }),
    ...(replayedHeader !== false && { [replayedHeader]: replayed }),
  };
}

/** Lists the problems that clients of an operation meet. */
function problemsOf({ guard, endpoint }: Operation, { requestBody }: RequestObject): readonly ProblemCode[] {
  const may: readonly [boolean, ...ProblemCode[]][] = [
    [endpoint !== undefined, 'validation-failed'],
    [requestBody !== undefined, 'body-malformed'],
    [guard?.whenKeyMissing === 'reject', 'key-missing'],
    [guard !== undefined, 'key-repeated', 'request-in-flight', 'response-unavailable'],
    [guard?.keyPattern !== undefined, 'key-malformed'],
    [guard?.whenOwnerDies === 'refuse', 'outcome-unknown'],
    [guard?.whenKeyReused === 'reject', 'key-reused'],
    [endpoint?.options.allowAnonymous === false, 'unauthenticated'],
  ];
  return may.flatMap(([isPossible, ...codes]) => (isPossible ? codes : []));
}
