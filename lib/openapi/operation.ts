import type { Endpoint } from '../binding/endpoint';
import { usuallyHasNoBody } from '../binding/plan/lookup';
import type { Codec } from '../binding/types/codec';
import type { JsonSchema } from '../binding/types/json-schema';
import type { ResolvedOptions } from '../idempotency/options/resolved-options';
import { bodyLimits } from './body/body-limits';
import { jointBody } from './body/joint-body';
import { bodyOf, type EndpointBody } from './body/request-body';
import type { SdkExtensions } from './options/sdk-generators';
import type { Security } from './options/security';
import { keyParameter } from './parameters/key-parameter';
import { parameterOf } from './parameters/parameter';
import { refusalResponses, refusalsOf } from './responses/refusals';
import { responsesOf, withRefusals } from './responses/responses';
import type { RouteMiddlewares } from './routing/middlewares';
import type { PathParameter } from './routing/path-templates';
import type { Route } from './routing/routes';
import type { Components } from './schemas/components';
import { inPathOnly, merged, type ParameterValue } from './values/parameter-values';
import { placementOf, type SchemasFrom } from './values/placement';

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
  const seenBy = (endpoint: Endpoint): PathParameter[] =>
    template.parameters.map((one, at) => ({ ...one, key: keysOf.get(endpoint)?.[at] }));
  const placed = endpoints.map(one => placedOf(one, method, seenBy(one), components));
  const own = merged([...placed.flatMap(one => one.parameters), ...template.parameters.map(inPathOnly)]);
  const inDto = own.find(one => one.in === 'header' && one.name.toLowerCase() === guard?.headerName.toLowerCase());
  const codecs = inDto ? endpoints.flatMap(one => headerCodecs(one, inDto.name)) : [];
  const key = guard && keyParameter(guard, inDto && { ...inDto, codecs }, components, extensions);
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
  const replacing = placed.flatMap(one => one.replacing ?? []);
  const declared = new Set(endpoints.flatMap(({ responses }) => [...responses.keys()]));
  return {
    ...defined({ summary, description: describedWith(description, replacing), tags, deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body, endpoints, guard) }),
    responses: withRefusals(refusalResponses(refusals), responsesOf(endpoints, guard, components)),
    ...defined({ security: security.of(endpoints) }),
    ...(guard && extensions.operation(guard, declared)),
  };
}

/** Returns the codecs that read a header: none or one. */
function headerCodecs({ plan }: Endpoint, name: string): Codec[] {
  const headers = plan?.sourceProperties.get('header') ?? [];
  return headers.filter(one => one.name.toLowerCase() === name.toLowerCase()).map(({ codec }) => codec);
}

/** Describes the parameters that one endpoint reads, and its body. */
function placedOf(
  endpoint: Endpoint,
  method: string,
  pathParameters: readonly PathParameter[],
  components: Components,
): {
  readonly parameters: readonly ParameterValue[];
  readonly body?: EndpointBody;
  readonly replacing?: readonly string[];
} {
  const { plan, options } = endpoint;
  if (!plan) return { parameters: [] };
  const schemasFrom: SchemasFrom = source => components.schemasFor('request', options.limits, source);
  const { parameters, body, replacing } = placementOf(plan, endpoint, method, pathParameters, schemasFrom);
  return { parameters, body: bodyOf(plan, endpoint, method, body, schemasFrom), replacing };
}

/** Says which query parameters replace values of the path or body. */
function describedWith(description: string | undefined, replacing: readonly string[]): string | undefined {
  if (replacing.length === 0) return description;
  const names = [...new Set(replacing)].join(', ');
  const text = `Query parameters of these names replace the values in path and body: ${names}.`;
  return description === undefined ? text : `${description}\n\n${text}`;
}

function requestBody(
  { required, contents, numbered }: Omit<EndpointBody, 'accepted'>,
  endpoints: readonly Endpoint[],
  guard: ResolvedOptions | undefined,
): object {
  const limits = bodyLimits(Object.keys(contents), endpoints, guard);
  // The page of apiDocs() does not show the patterns of names.
  const names = numbered.length > 0 ? ` Items are numbered from 0: ${numbered.join(', ')}.` : '';
  return { description: `${limits}${names}`, required, content: contents };
}

/** Leaves out what is undefined. */
function defined(values: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
