import type { EndpointDescription } from '../binding/bind-request';
import { namingErrors } from '../binding/declaration/declaration-error';
import { warnOnce } from '../warnings/warn-once';
import { Components } from './components';
import type { Routed } from './express-layers';
import { checkOpenApiOptions, type OpenApiOptions } from './openapi-options';
import { middlewaresOf, type RouteMiddlewares } from './middlewares';
import { operationOf, type Document } from './operation';
import { operationIds } from './operation-ids';
import { renamed, shapeOf, type PathTemplate } from './path-templates';
import { routesOf, type Route } from './routes';
import { sdkExtensions } from './sdk-generators';
import { Security } from './security';

/** An OpenAPI document, ready for `JSON.stringify`. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: OpenApiOptions['info'];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly [field: string]: unknown;
}

/**
 * Describes the routes of an Express application or router as an OpenAPI document: what their `idempotency()` and
 * `bindRequest()` read, and what they answer. Call it when all routes are mounted. A path that is a regular expression,
 * or has parts of one, is left out: OpenAPI has no way to write it.
 * @throws TypeError for an unknown option or an invalid value, for two endpoints with one `operationId`, and for a
 * route that cannot be described; the message names it.
 */
export function openapi(app: Routed, options: OpenApiOptions): OpenApiDocument {
  checkOpenApiOptions('openapi', options);
  const { info, servers, tags, security: ofAll, jsonSchemaOf, sdkGenerators } = options;
  const security = namingErrors('openapi', () => new Security(options));
  const extensions = sdkExtensions(sdkGenerators);
  const operations = operationsOf(app, options);
  const names = operationIds(operations);
  const pathsWith = (components: Components): OpenApiDocument['paths'] =>
    pathsOf(operations, names, { components, security, extensions });
  const draft = new Components(jsonSchemaOf);
  pathsWith(draft);
  const components = new Components(jsonSchemaOf, draft);
  const paths = pathsWith(components);
  return {
    openapi: options.openapi === '3.2' ? '3.2.0' : '3.1.1',
    info,
    ...(servers && { servers }),
    ...(tags && { tags }),
    ...(ofAll && { security: ofAll }),
    paths,
    components: {
      schemas: components.usedIn(paths),
      ...(Object.keys(security.schemes).length > 0 && { securitySchemes: security.schemes }),
    },
    ...extensions.document(operations.flatMap(({ middlewares: { guard } }) => guard ?? [])),
  };
}

/** A route that the document lists. */
interface Operation {
  readonly route: Route;
  readonly middlewares: RouteMiddlewares;
  /** Method and path. */
  readonly where: string;
  readonly operationId: string | undefined;
  readonly endpoint: EndpointDescription | undefined;
}

/** Finds the routes that the document lists, under the paths that it has for them. */
function operationsOf(app: Routed, { mounts, listOthers, openapi: version = '3.1' }: OpenApiOptions): Operation[] {
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

/** Finds the route that answers each method and path: the first one, unless it passes its requests on. */
function answeringRoutes(routes: readonly Route[]): Iterable<Route> {
  const answering = new Map<string, Route>();
  for (const route of routes) {
    const where = `${route.method} ${keyOf(route)}`;
    if (answering.get(where)?.passesOn ?? true) answering.set(where, route);
  }
  return answering.values();
}

/** Describes the operations by path and method. */
function pathsOf(
  operations: readonly Operation[],
  names: ReadonlyMap<Operation, string>,
  document: Document,
): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const one of operations) {
    const { route, where } = one;
    const operation = namingErrors(`openapi: ${where}`, () => operationOf(route, one.middlewares, document));
    (paths[route.template.path] ??= {})[route.method] = { operationId: names.get(one), ...operation };
  }
  return paths;
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
  );
  return false;
}
