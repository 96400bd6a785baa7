import type { EndpointDescription } from '../binding/bind-request';
import type { JsonSchema } from '../binding/types/json-schema';
import type { ResolvedOptions } from '../idempotency/options';
import type { Components } from './components';
import { idempotencyHeader } from './idempotency-header';
import type { PathTemplate } from './path-templates';
import { inPathOnly, merged, placementOf, type ParameterValue, type Placement, type SchemasFrom } from './placement';
import { refusalResponses, refusalsOf } from './refusals';
import { requestBodyOf } from './request-body';
import type { Route } from './routes';
import { isStructured } from './values';

/** What the middlewares of one route say about themselves. */
export interface Described {
  readonly guard: ResolvedOptions | undefined;
  readonly endpoint: EndpointDescription | undefined;
  /** Endpoints that bind the same request before it. */
  readonly before?: readonly EndpointDescription[];
}

/** Describes the requests and responses of one route. */
export function operationOf(
  { method, template }: Route,
  { guard, endpoint, before = [] }: Described,
  components: Components,
): object {
  const placements = [...before, endpoint].map(one => placed(one, method, template, components));
  const own = merged(placements.flatMap(one => one.parameters));
  const parameters = own.map(parameterOf);
  // Two bodies cannot be described; the last one is what the handler gets.
  const requestBody = placements.map(one => one.requestBody).findLast(one => one !== undefined);
  const hasOwnKey = own.some(one => one.in === 'header' && one.name.toLowerCase() === guard?.headerName.toLowerCase());
  if (guard && !hasOwnKey) parameters.push(idempotencyHeader(guard, components.schemasFor('request', 0, 'header')));
  const refusals = refusalsOf({
    guard,
    endpoint,
    hasBody: requestBody !== undefined,
    hasQuery: own.some(one => one.in === 'query'),
  });
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    ...defined({ summary, description, tags, deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: withRefusals(refusalResponses(refusals), responsesOf(endpoint, guard, components)),
    ...([...before, endpoint].some(needsCaller) && { security: [{ caller: [] }] }),
  };
}

/** What one endpoint reads of a request. */
function placed(
  endpoint: EndpointDescription | undefined,
  method: string,
  template: PathTemplate,
  components: Components,
): Pick<Placement, 'parameters'> & { readonly requestBody?: object | undefined } {
  const plan = endpoint?.endpoint.plan;
  if (!endpoint || !plan) return { parameters: template.parameters.map(inPathOnly) };
  const maxItems = endpoint.endpoint.settings.limits.items;
  const schemasFrom: SchemasFrom = source => components.schemasFor('request', maxItems, source);
  const { parameters, body } = placementOf(plan, endpoint, method, template.parameters, schemasFrom);
  return { parameters, requestBody: requestBodyOf(plan, endpoint, body, schemasFrom) };
}

function parameterOf({ name, in: where, required, schema, isExploded }: ParameterValue): object {
  const { description, ...rest } = schema as { readonly description?: string };
  return {
    name,
    in: where,
    required,
    ...defined({ description }),
    ...(isExploded
      ? { style: 'form', explode: true, schema: rest }
      : isStructured(schema)
        ? { content: { 'application/json': { schema: rest } } }
        : { schema: rest }),
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
function withRefusals(refusals: Record<string, object>, declared: Record<string, object>): Record<string, object> {
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
