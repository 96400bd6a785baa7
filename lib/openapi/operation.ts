import { endpoints } from '../binding/bind-request';
import { guards } from '../idempotency/idempotency';
import type { Components } from './components';
import { keyHeader } from './key-header';
import { placementOf, type ParameterValue } from './placement';
import { requestBodyOf } from './request-body';
import type { Route } from './routes';
import type { Security } from './security';
import { isStructured, type SchemasFrom } from './values';

/** A route that the document lists; `where` is its method and path. */
export type Operation = ReturnType<typeof operationOf>;

/** The requests of an operation, as OpenAPI has them (3.1, section 4.8.10). */
export type RequestObject = ReturnType<typeof requestOf>;

/** Finds the middlewares of a route: the first `idempotency()` guards it, and the handler gets the last dto. */
export function operationOf(route: Route) {
  const { method, template, handlers } = route;
  return {
    route,
    where: `${method.toUpperCase()} ${template.path}`,
    guard: handlers
      .flatMap(handle => guards.of(handle) ?? [])
      .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase())),
    endpoint: handlers.flatMap(handle => endpoints.of(handle) ?? []).at(-1),
  };
}

/** Describes the requests of one operation. */
export function requestOf({ route, guard, endpoint }: Operation, components: Components, security: Security) {
  const { limits, unknownNames } = endpoint?.options ?? {};
  const isClosed = unknownNames === 'refuse';
  const from: SchemasFrom = source => components.schemasFor({ direction: 'request', source, isClosed }, limits);
  const { parameters, body, replacing } = placementOf(endpoint, route, from);
  const keyName = guard?.headerName.toLowerCase();
  const inDto = parameters.find(one => one.in === 'header' && one.name.toLowerCase() === keyName);
  const key = guard && keyHeader(guard, inDto, from('header'));
  const listed = [...parameters.map(one => (one === inDto ? key : parameterOf(one))), ...(key && !inDto ? [key] : [])];
  const mostBytes = guard && !guard.ignoreRequestBody ? guard.maxRequestBytes : Infinity;
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  const names = [...new Set(replacing)].join(', ');
  const replaced = names && `Query parameters of these names replace the values in path and body: ${names}.`;
  return {
    summary,
    description: [description, replaced].filter(Boolean).join('\n\n') || undefined,
    tags,
    deprecated,
    parameters: listed.length > 0 ? listed : undefined,
    requestBody: endpoint && requestBodyOf(endpoint, route, body, from, mostBytes),
    security: security.of(endpoint),
  };
}

/** A cookie is sent once. By default, a list would be sent as several cookies of one name. */
const COMMA_SEPARATED = { style: 'form', explode: false };

/** Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). */
function parameterOf({ name, in: where, required, schema: described, isExploded }: ParameterValue): object {
  const { description, ...schema } = described as { readonly description?: string };
  const isCookieList = where === 'cookie' && [described['type']].flat().includes('array');
  const style = isExploded ? { style: 'form', explode: true } : isCookieList ? COMMA_SEPARATED : {};
  const isJson = !isExploded && isStructured(described);
  const value = isJson ? { content: { 'application/json': { schema } } } : { ...style, schema };
  return { name, in: where, required, description, ...value };
}
