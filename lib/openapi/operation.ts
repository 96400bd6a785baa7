import type { EndpointDescription } from '../binding/bind-request';
import { usuallyHasNoBody } from '../binding/plan/lookup';
import type { JsonSchema } from '../binding/types/json-schema';
import type { ResolvedOptions } from '../idempotency/options/options';
import { bodyLimits } from './body-limits';
import type { Components } from './components';
import { idempotencyHeader } from './idempotency-header';
import { jointBody } from './joint-body';
import type { RouteMiddlewares } from './middlewares';
import type { PathParameter } from './path-templates';
import { inPathOnly, merged, placementOf, type ParameterValue, type SchemasFrom } from './placement';
import { refusalResponses, refusalsOf } from './refusals';
import { bodyOf, type EndpointBody } from './request-body';
import { responsesOf, withRefusals } from './responses';
import type { Route } from './routes';
import type { SdkExtensions } from './sdk-generators';
import type { Security } from './security';
import { bothTexts, isStructured } from './values';

/** Parts of one document that its operations share. */
export interface Document {
  readonly components: Components;
  readonly security: Security;
  readonly extensions: SdkExtensions;
}

/** Describes the requests and responses of one route. */
export function operationOf(
  { method, template }: Route,
  { guard, endpoints, keysOf }: RouteMiddlewares,
  { components, security, extensions }: Document,
): object {
  const seenBy = (endpoint: EndpointDescription): PathParameter[] =>
    template.parameters.map((one, at) => ({ ...one, key: keysOf.get(endpoint)?.[at] }));
  const placed = endpoints.map(one => placedOf(one, method, seenBy(one), components));
  const own = merged([...placed.flatMap(one => one.parameters), ...template.parameters.map(inPathOnly)]);
  const inDto = own.find(one => one.in === 'header' && one.name.toLowerCase() === guard?.headerName.toLowerCase());
  const key = guard && keyParameter(guard, inDto, components, extensions);
  const parameters = own.map(one => (key && one === inDto ? key : parameterOf(one)));
  if (key && !inDto) parameters.push(key);
  const body = jointBody(
    placed.flatMap(one => one.body ?? []),
    reference => components.schemaAt(reference),
  );
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

/**
 * Describes the header of the key. A dto that has the header, too, says more of its value, but cannot make it optional.
 */
function keyParameter(
  guard: ResolvedOptions,
  inDto: ParameterValue | undefined,
  components: Components,
  extensions: SdkExtensions,
): object {
  const header = { ...idempotencyHeader(guard, components.schemasFor('request')), ...extensions.keyHeader };
  if (!inDto) return header;
  const { schema, ...rest } = header;
  return {
    ...rest,
    ...parameterOf({
      ...inDto,
      required: inDto.required || header.required,
      schema: guard.keyPattern ? bothTexts(inDto.schema, schema) : inDto.schema,
    }),
  };
}

/** Describes the parameters that one endpoint reads, and its body. */
function placedOf(
  endpoint: EndpointDescription,
  method: string,
  pathParameters: readonly PathParameter[],
  components: Components,
): { readonly parameters: readonly ParameterValue[]; readonly body?: EndpointBody } {
  const { plan, options } = endpoint.endpoint;
  if (!plan) return { parameters: [] };
  const schemasFrom: SchemasFrom = source => components.schemasFor('request', options.limits, source);
  const { parameters, body } = placementOf(plan, endpoint, method, pathParameters, schemasFrom);
  return { parameters, body: bodyOf(plan, endpoint, method, body, schemasFrom) };
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

/** A cookie is sent once. By default, a list would be sent as several cookies of one name. */
const COMMA_SEPARATED = { style: 'form', explode: false };

function parameterOf({ name, in: where, required, schema, isExploded }: ParameterValue): object {
  const { description, ...rest } = schema as { readonly description?: string };
  const isCookieList = where === 'cookie' && [schema['type']].flat().includes('array');
  return {
    name,
    in: where,
    required,
    ...defined({ description }),
    ...(isExploded
      ? { style: 'form', explode: true, schema: rest }
      : isStructured(schema)
        ? { content: { 'application/json': { schema: rest } } }
        : { ...(isCookieList && COMMA_SEPARATED), schema: rest }),
  };
}

/** Leaves out what is undefined. */
function defined(values: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
