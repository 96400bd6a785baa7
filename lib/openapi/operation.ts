import type { EndpointDescription } from '../binding/bind-request';
import { usuallyHasNoBody } from '../binding/plan/lookup';
import type { JsonSchema } from '../binding/types/json-schema';
import type { ResolvedOptions } from '../idempotency/options';
import { bodyLimits } from './body-limits';
import type { Components } from './components';
import { idempotencyHeader } from './idempotency-header';
import { jointBody } from './joint-body';
import type { PathTemplate } from './path-templates';
import { inPathOnly, merged, placementOf, type ParameterValue, type SchemasFrom } from './placement';
import { refusalResponses, refusalsOf } from './refusals';
import { bodyOf, type EndpointBody } from './request-body';
import { responsesOf, withRefusals } from './responses';
import type { Route } from './routes';
import type { SdkExtensions } from './sdk-generators';
import type { Security } from './security';
import { isStructured } from './values';

/** The descriptions of the middlewares of one route. */
export interface RouteMiddlewares {
  readonly guard: ResolvedOptions | undefined;
  /** Each binds the same request; the handler gets the dto of the last one. */
  readonly endpoints: readonly EndpointDescription[];
}

/** What the operations of one document have in common. */
export interface Document {
  readonly components: Components;
  readonly security: Security;
  readonly extensions: SdkExtensions;
}

/** Describes the requests and responses of one route. */
export function operationOf(
  { method, template }: Route,
  { guard, endpoints }: RouteMiddlewares,
  { components, security, extensions }: Document,
): object {
  const placed = endpoints.map(one => placedOf(one, method, template, components));
  const own = merged([...placed.flatMap(one => one.parameters), ...template.parameters.map(inPathOnly)]);
  const isKey = (one: ParameterValue): boolean =>
    one.in === 'header' && one.name.toLowerCase() === guard?.headerName.toLowerCase();
  const parameters = own.map(one => ({ ...parameterOf(one), ...(isKey(one) && extensions.keyHeader) }));
  const body = jointBody(placed.flatMap(one => one.body ?? []));
  if (guard && !own.some(isKey))
    parameters.push({ ...idempotencyHeader(guard, components.schemasFor('request')), ...extensions.keyHeader });
  const refusals = refusalsOf({
    guard,
    endpoints,
    readsBody: body !== undefined,
    guardsBody: guard?.ignoreRequestBody === false && !usuallyHasNoBody(method),
    hasQuery: own.some(one => one.in === 'query'),
  });
  const { summary, description, tags, deprecated } = endpoints.at(-1)?.operation ?? {};
  const declared = new Set(endpoints.flatMap(({ responses }) => [...responses.keys()]));
  return {
    ...defined({ summary, description, tags, deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body, endpoints, guard) }),
    responses: withRefusals(refusalResponses(refusals), responsesOf(endpoints, guard, components)),
    ...defined({ security: security.of(endpoints) }),
    ...(guard && extensions.operation(guard, declared)),
  };
}

/** Describes the parameters that one endpoint reads, and its body. */
function placedOf(
  endpoint: EndpointDescription,
  method: string,
  template: PathTemplate,
  components: Components,
): { readonly parameters: readonly ParameterValue[]; readonly body?: EndpointBody } {
  const { plan, options } = endpoint.endpoint;
  if (!plan) return { parameters: [] };
  const schemasFrom: SchemasFrom = source => components.schemasFor('request', options.limits, source);
  const { parameters, body } = placementOf(plan, endpoint, method, template.parameters, schemasFrom);
  return { parameters, body: bodyOf(plan, endpoint, body, schemasFrom) };
}

function requestBody(
  { required, contents, numbered }: Omit<EndpointBody, 'accepted'>,
  endpoints: readonly EndpointDescription[],
  guard: ResolvedOptions | undefined,
): object {
  const limits = bodyLimits(Object.keys(contents), endpoints, guard);
  // The page of apiDocs() does not show the patterns of names.
  const names = numbered.length > 0 ? ` Items are numbered from 0: ${numbered.join(', ')}.` : '';
  return { description: `${limits}${names}`, required, content: contents };
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

/** Leaves out what is undefined. */
function defined(values: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
