import { endpoints } from '../binding/bind-request';
import { isDescribed } from '../description/descriptions';
import { guards } from '../idempotency/idempotency';
import { warnOnce } from '../warnings/warn-once';
import { documentPath, parametersOf, shapeOf, type PathParameter } from './express-paths';
import type { OpenApiOptions } from './openapi-options';
import { routesOf, type Route, type Routed } from './routes';

/** What serves an operation: what guards it, and what makes the dto that its handler gets. */
type Middlewares = ReturnType<typeof middlewaresOf>;

/** A route that the document lists. */
export interface Operation extends Middlewares {
  readonly method: string;
  /** Its path in the document, and the parameters there. */
  readonly path: string;
  readonly parameters: readonly PathParameter[];
  /** Its method and path. */
  readonly where: string;
}

/** Finds the routes that the document lists, under the paths that it has for them. */
export function operationsOf(
  app: Routed,
  { mounts, listOthers, openapi: version = '3.1' }: OpenApiOptions,
): Operation[] {
  const routes = new Map<string, Route>();
  for (const route of routesOf(app, mounts)) {
    const where = `${route.method} ${shapeOf(route.path)}`;
    const before = routes.get(where);
    // A route that ends with one of our middlewares leaves the answer to the next one.
    if (!before || isDescribed(before.handlers.at(-1)))
      routes.set(where, { ...route, handlers: [...(before?.handlers ?? []), ...route.handlers] });
  }
  // OpenAPI takes `/{id}` and `/{order}` for one path (3.1, section 4.8.8.1), as Express does.
  const paths = new Map<string, string>();
  return [...routes.values()].flatMap(route => {
    const { guard, endpoint } = middlewaresOf(route);
    if (endpoint?.operation.hidden || !(guard ?? endpoint ?? listOthers) || !isIn(version, route)) return [];
    const path = paths.get(shapeOf(route.path)) ?? documentPath(route.path);
    paths.set(shapeOf(route.path), path);
    const where = `${route.method.toUpperCase()} ${path}`;
    return [{ method: route.method, path, where, parameters: parametersOf(route.path, path), guard, endpoint }];
  });
}

function isIn(version: string, { method, path }: Route): boolean {
  if (method !== 'query' || version === '3.2') return true;
  const why = "OpenAPI 3.1 has no method QUERY (RFC 10008). Pass openapi: '3.2'.";
  warnOnce('BINDONCE_OPENAPI_QUERY', `openapi: QUERY ${path} is left out: ${why}`, path);
  return false;
}

/** Finds the middlewares of a route: the first `idempotency()` guards it, and the handler gets the last dto. */
function middlewaresOf({ method, handlers }: Route) {
  return {
    guard: handlers
      .flatMap(handle => guards.of(handle) ?? [])
      .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase())),
    endpoint: handlers.flatMap(handle => endpoints.of(handle) ?? []).at(-1),
  };
}
