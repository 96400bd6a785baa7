import { endpoints } from '../binding/bind-request';
import { guards } from '../idempotency/idempotency';
import type { Source } from '../problems/problem';
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
  const facts = { direction: 'request', isClosed: unknownNames === 'refuse' } as const;
  // The JSON body of a class has its name, and so no limits: endpoints with other limits share it.
  const limitsIn = (source: Source) => (endpoint && nameOf(endpoint) && source === 'json' ? undefined : limits);
  const from: SchemasFrom = source => components.schemasFor({ ...facts, source }, limitsIn(source));
  const { parameters, body } = placementOf(endpoint, route, from);
  // The dto may bind the header of the key, too.
  const key = guard?.headerName.toLowerCase();
  const others = parameters.filter(one => one.in !== 'header' || one.name.toLowerCase() !== key);
  const listed = others.map(one => parameterOf(one, components));
  if (guard) listed.push(keyHeader(guard, from('header')));
  const { summary, description, tags, deprecated } = endpoint?.operation ?? {};
  return {
    ...{ summary, description, tags, deprecated },
    parameters: listed.length > 0 ? listed : undefined,
    requestBody: endpoint && requestBodyOf(endpoint, body, from, components),
    security: security.of(endpoint),
  };
}

/**
 * Writes a value outside of the body as OpenAPI has it (3.1, section 4.8.12). Objects with lists or objects inside have
 * no style that clients agree on, and several generators fail at `content`: such values are texts that hold JSON.
 */
function parameterOf({ name, in: where, required, schema: described, isExploded }: ParameterValue, all: Components) {
  const { description, ...schema } = described as { readonly description?: string };
  const value = (style: object): object => ({ name, in: where, required, description, ...style });
  if (isExploded) return value({ style: 'form', explode: true, schema });
  if (isStructured(described)) {
    if (where === 'query' && isFlat(described, one => all.resolved(one)))
      return value({ style: 'deepObject', explode: true, schema });
    return value({ schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema } });
  }
  if (![described['type']].flat().includes('array')) return value({ schema });
  // What counts anyway in a query, but a generator asks for it. In a header, another one cannot compile a list.
  return value(where === 'query' ? { style: 'form', explode: true, schema } : { schema: ITEMS });
}

const ITEMS = { type: 'string', description: 'The items, with commas between them.' };
