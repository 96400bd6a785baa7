import type { EndpointDescription } from '../binding/bind-request';
import type { JsonSchema } from '../binding/types/json-schema';
import type { ResolvedOptions } from '../idempotency/options';
import type { Components } from './components';
import { idempotencyHeader } from './idempotency-header';
import { isStructured, placementOf, type ParameterValue } from './placement';
import { refusalResponses, refusalsOf } from './refusals';
import { requestBodyOf } from './request-body';
import type { Route } from './routes';

/** What the middlewares of one route say about themselves. */
export interface Described {
  readonly guard: ResolvedOptions | undefined;
  readonly endpoint: EndpointDescription | undefined;
}

/** Describes the requests and responses of one route. */
export function operationOf(
  { method, template }: Route,
  { guard, endpoint }: Described,
  components: Components,
): object {
  const maxItems = endpoint?.endpoint.settings.limits.items ?? 0;
  const schemas = components.schemasFor('request', maxItems);
  const plan = endpoint?.endpoint.plan;
  const placed =
    endpoint && plan
      ? placementOf(plan, endpoint, method, template.parameters, schemas)
      : { parameters: template.parameters.map(inPath), body: [] };
  const requestBody = endpoint && plan && requestBodyOf(plan, endpoint, placed.body, schemas);
  const parameters = placed.parameters.map(parameterOf);
  const hasOwnKey = placed.parameters.some(({ name }) => name.toLowerCase() === guard?.headerName.toLowerCase());
  if (guard && !hasOwnKey) parameters.push(idempotencyHeader(guard, schemas));
  const refusals = refusalsOf({
    guard,
    endpoint,
    hasBody: requestBody !== undefined,
    hasQuery: placed.parameters.some(one => one.in === 'query'),
  });
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    ...defined({ summary, description, tags, deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: merged(refusalResponses(refusals), responsesOf(endpoint, guard, components)),
    ...(needsCaller(endpoint) && { security: [{ caller: [] }] }),
  };
}

const inPath = (name: string): ParameterValue => ({ name, in: 'path', required: true, schema: { type: 'string' } });

function parameterOf({ name, in: where, required, schema }: ParameterValue): object {
  const { description, ...rest } = schema as { readonly description?: string };
  return {
    name,
    in: where,
    required,
    ...defined({ description }),
    ...(isStructured(schema) ? { content: { 'application/json': { schema: rest } } } : { schema: rest }),
  };
}

/** Describes the responses of the handler: those that are declared, else that there is one. */
function responsesOf(
  endpoint: EndpointDescription | undefined,
  guard: ResolvedOptions | undefined,
  components: Components,
): Record<string, object> {
  const schemas = components.schemasFor('response', 0);
  const headers = guard && replayHeaders(guard);
  const declared = [...(endpoint?.responses ?? [])].map(([status, codec]): [string, object] => [
    String(status),
    {
      description: descriptionOf(status),
      ...(headers && { headers }),
      content: { 'application/json': { schema: schemas.of(codec) } },
    },
  ]);
  const responses = Object.fromEntries(declared);
  const hasSuccess = declared.some(([status]) => /^[23]/.test(status));
  return hasSuccess
    ? responses
    : { ...responses, '2XX': { description: 'The response of the handler.', ...(headers && { headers }) } };
}

const descriptionOf = (status: number): string =>
  status < 300 ? 'The request was carried out.' : status < 400 ? 'The response is elsewhere.' : 'The request failed.';

/** Describes the headers that tell a replay from a first response. */
function replayHeaders({ headerName, addHeaderToResponse, replayedHeader }: ResolvedOptions): object {
  return {
    ...(addHeaderToResponse && {
      [headerName]: { description: 'The key of the request.', schema: { type: 'string' } },
    }),
    ...(replayedHeader !== false && {
      [replayedHeader]: {
        description: 'true if the response is that of an earlier request with this key.',
        schema: { type: 'string', enum: ['true'] },
      },
    }),
  };
}

/** A status can be both a refusal and a declared response: its content may then be either. */
function merged(refusals: Record<string, object>, declared: Record<string, object>): Record<string, object> {
  const all: Record<string, object> = { ...refusals, ...declared };
  for (const [status, response] of Object.entries(declared)) {
    const refusal = refusals[status];
    if (refusal) all[status] = { ...refusal, ...response, content: { ...contentOf(refusal), ...contentOf(response) } };
  }
  return all;
}

const contentOf = (response: object): object => (response as { readonly content?: object }).content ?? {};

/** Tells whether the endpoint refuses anonymous callers: it says so, or requires a claim or a permission. */
function needsCaller(endpoint: EndpointDescription | undefined): boolean {
  if (!endpoint) return false;
  const { plan, settings } = endpoint.endpoint;
  return (
    !settings.allowAnonymous ||
    (['claim', 'permission'] as const).some(source =>
      plan?.sourceProperties.get(source)?.some(({ required }) => required),
    )
  );
}

/** Leaves out what is undefined. */
function defined(values: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
