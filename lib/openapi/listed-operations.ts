import type { Endpoint } from '../binding/endpoint';
import { warnOnce } from '../warnings/warn-once';
import type { OpenApiOptions } from './options/openapi-options';
import type { Routed } from './routing/express-layers';
import { middlewaresOf, type RouteMiddlewares } from './routing/middlewares';
import { renamed, shapeOf, type PathTemplate } from './routing/path-templates';
import { routesOf, type Route } from './routing/routes';

/** A route that the document lists. */
export interface Operation {
  readonly route: Route;
  readonly middlewares: RouteMiddlewares;
  /** Method and path. */
  readonly where: string;
  readonly operationId: string | undefined;
  readonly endpoint: Endpoint | undefined;
}

/** Finds the routes that the document lists, under the paths that it has for them. */
export function operationsOf(
  app: Routed,
  { mounts, listOthers, openapi: version = '3.1' }: OpenApiOptions,
): Operation[] {
  const found = new Map<string, Operation>();
  const templates = new Map<string, PathTemplate>();
  for (const route of answeringRoutes(routesOf(app, mounts))) {
    const middlewares = middlewaresOf(route.handlers, route.method);
    const endpoint = middlewares.endpoints.at(-1);
    const isOurs = middlewares.guard ?? endpoint;
    if (endpoint?.operation.hidden || !(isOurs ?? listOthers)) continue;
    const template = templateOf(route, templates);
    const where = `${route.method.toUpperCase()} ${template.path}`;
    if (found.has(where) || !isIn(version, route)) continue;
    const { operationId } = endpoint?.operation ?? {};
    found.set(where, { route: { ...route, template }, middlewares, where, operationId, endpoint });
  }
  return [...found.values()];
}

/**
 * Finds the route that answers each method and path: the first one, unless it passes its requests on. One in front
 * of all methods is left out if others of its path have a handler.
 */
function answeringRoutes(routes: readonly Route[]): Route[] {
  const answering = new Map<string, Route>();
  for (const route of routes) {
    const where = `${route.method} ${keyOf(route)}`;
    if (answering.get(where)?.passesOn ?? true) answering.set(where, route);
  }
  const answered = new Set(routes.filter(({ passesOn }) => !passesOn).map(keyOf));
  return [...answering.values()].filter(route => !(route.isInFrontOfAll && answered.has(keyOf(route))));
}

/** Tells routes apart as Express does. */
function keyOf({ template, isCaseSensitive }: Route): string {
  const shape = shapeOf(template);
  return isCaseSensitive ? shape : shape.toLowerCase();
}

/**
 * Returns the path of a route. OpenAPI takes `/{id}` and `/{orderId}` for one path (3.1, section 4.8.8.1), as Express
 * does; like `/A` and `/a`, it is described under the spelling that was added first.
 */
function templateOf(route: Route, known: Map<string, PathTemplate>): PathTemplate {
  const own = { ...route.template, path: route.template.path || '/' };
  const key = keyOf(route);
  const first = known.get(key);
  if (first) return renamed(own, first);
  known.set(key, own);
  return own;
}

function isIn(version: string, { method, template }: Route): boolean {
  if (method !== 'query' || version === '3.2') return true;
  warnOnce(
    'BINDONCE_OPENAPI_QUERY',
    `openapi: QUERY ${template.path} is left out: OpenAPI 3.1 has no method QUERY (RFC 10008). Pass openapi: '3.2'.`,
    template.path,
  );
  return false;
}
