import { endpoints } from '../binding/endpoint';
import { guards } from '../idempotency/idempotency';
import type { Components } from './components';
import { keyHeader } from './key-header';
import { placementOf, type ParameterValue } from './placement';
import { nameOf, requestBodyOf } from './request-body';
import type { Route } from './routes';
import type { Security } from './security';
import { isFlat, isStructured, type SchemasFrom } from './values';

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
  // The JSON body of a class has its name, and so no limits: endpoints with other limits share it.
  const hasName = endpoint !== undefined && nameOf(endpoint) !== '';
  const from: SchemasFrom = source =>
    components.schemasFor(
      { direction: 'request', source, isClosed },
      hasName && source === 'json' ? undefined : limits,
    );
  const { parameters, body } = placementOf(endpoint, route, from);
  const keyName = guard?.headerName.toLowerCase();
  const inDto = parameters.find(one => one.in === 'header' && one.name.toLowerCase() === keyName);
  const key = guard && keyHeader(guard, inDto, from('header'));
  const others = parameters.map(one => (one === inDto ? key : parameterOf(one, components)));
  const listed = key && !inDto ? [...others, key] : others;
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    summary,
    description,
    tags,
    deprecated,
    parameters: listed.length > 0 ? listed : undefined,
    requestBody: endpoint && requestBodyOf(endpoint, route, body, from, components),
    security: security.of(endpoint),
  };
}

/**
 * Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). Objects with lists or objects inside have
 * no style that clients agree on, and several generators fail at `content`: such values are texts that hold JSON.
 */
function parameterOf({ name, in: where, required, schema: described, isExploded }: ParameterValue, all: Components) {
  const { description, ...schema } = described as { readonly description?: string };
  const isList = [described['type']].flat().includes('array');
  const value = (style: object): object => ({ name, in: where, required, description, ...style });
  if (isExploded) return value({ style: 'form', explode: true, schema });
  if (isStructured(described)) {
    if (where === 'query' && isFlat(described, one => all.resolved(one)))
      return value({ style: 'deepObject', explode: true, schema });
    return value({ schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema } });
  }
  if (!isList) return value({ schema });
  // What counts anyway in a query, but a generator asks for it. In a header, another one cannot compile a list.
  return value(where === 'query' ? { style: 'form', explode: true, schema } : { schema: ITEMS });
}

const ITEMS = { type: 'string', description: 'The items, with commas between them.' };
