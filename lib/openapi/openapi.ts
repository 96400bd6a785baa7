import { endpoints, type EndpointDescription } from '../binding/bind-request';
import { namingErrors } from '../binding/declaration/declaration-error';
import { guards } from '../idempotency/idempotency';
import { boolean, checkOptions, fn, object, oneOf, type Rule } from '../options/check';
import { warnOnce } from '../warnings/warn-once';
import { Components } from './components';
import { operationOf, type Described } from './operation';
import { freeName, renamed, type PathTemplate } from './path-templates';
import { routesOf, type Mounts, type Route, type Routed } from './routes';
import type { JsonSchemaOf } from './standard-schema';

/** Options of {@link openapi}. */
export interface OpenApiOptions {
  /** Title, version and more of the API (OpenAPI 3.1, section 4.8.2). */
  info: { readonly title: string; readonly version: string; readonly [field: string]: unknown };
  /** Version of OpenAPI; only 3.2 has the method QUERY. Default `'3.1'`. */
  openapi?: '3.1' | '3.2';
  /** Addresses of the API, for example `[{ url: 'https://api.example.com' }]`. Default: where the document is. */
  servers?: readonly object[];
  /** Descriptions of the tags (OpenAPI 3.1, section 4.8.22). Default none. */
  tags?: readonly object[];
  /**
   * How callers authenticate at the endpoints that refuse anonymous ones (OpenAPI 3.1, section 4.8.27). Default
   * `{ type: 'http', scheme: 'bearer' }`.
   */
  securityScheme?: object;
  /** When true, routes without `bindRequest()` and `idempotency()` are listed by method and path. Default false. */
  listOthers?: boolean;
  /**
   * Routers by path that Express does not name: applications that are mounted in others and, under Express 5.0 to 5.2,
   * all nested routers. Default none.
   */
  mounts?: Mounts;
  /** Returns the JSON Schema of a Standard Schema that offers none; `{}` leaves it open. Default none. */
  jsonSchemaOf?: JsonSchemaOf;
}

const rules: Readonly<Record<keyof OpenApiOptions, Rule>> = {
  info: { expects: '{ title, version }', accepts: isInfo },
  openapi: oneOf('3.1', '3.2'),
  servers: { expects: 'an array of { url }', accepts: Array.isArray },
  tags: { expects: 'an array of { name }', accepts: Array.isArray },
  securityScheme: object,
  listOthers: boolean,
  mounts: object,
  jsonSchemaOf: fn,
};

function isInfo(value: unknown): boolean {
  const { title, version } = (value ?? {}) as Record<string, unknown>;
  return typeof title === 'string' && typeof version === 'string';
}

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
  checkOptions('openapi', options, rules);
  if (!isInfo((options as Partial<OpenApiOptions>).info))
    throw new TypeError('openapi: info must be { title, version }');
  const { info, servers, tags, securityScheme = { type: 'http', scheme: 'bearer' } } = options;
  const version = options.openapi ?? '3.1';
  const components = new Components(options.jsonSchemaOf);
  const operations: Operation[] = [];
  const templates = new Map<string, PathTemplate>();
  for (const route of routesOf(app, options.mounts)) {
    const described = describedBy(route);
    const isOurs = described.guard ?? described.endpoint;
    if (described.endpoint?.operation.hidden || !(isOurs ?? options.listOthers)) continue;
    const template = templateOf(route, templates);
    const { path } = template;
    // Express runs the route that was added first.
    if (operations.some(one => one.path === path && one.method === route.method) || !isIn(version, route)) continue;
    const where = `${route.method.toUpperCase()} ${path}`;
    const description = namingErrors(`openapi: ${where}`, () =>
      operationOf({ ...route, template }, described, components),
    );
    operations.push({ path, method: route.method, where, endpoint: described.endpoint, description });
  }
  const names = operationIds(operations);
  const paths: Record<string, Record<string, object>> = {};
  for (const one of operations)
    (paths[one.path] ??= {})[one.method] = { operationId: names.get(one), ...one.description };
  return {
    openapi: version === '3.1' ? '3.1.1' : '3.2.0',
    info,
    ...(servers && { servers }),
    ...(tags && { tags }),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: { caller: securityScheme },
    },
  };
}

/** An operation before it has a name. */
interface Operation {
  readonly path: string;
  readonly method: string;
  readonly where: string;
  readonly endpoint: EndpointDescription | undefined;
  readonly description: object;
}

/**
 * Returns the path of a route. OpenAPI takes `/{id}` and `/{orderId}` for one path (3.1, section 4.8.8.1), as Express
 * does; like `/A` and `/a`, it is described under the spelling that was added first.
 */
function templateOf({ template, isCaseSensitive }: Route, known: Map<string, PathTemplate>): PathTemplate {
  const own = { ...template, path: template.path.replace(/(?<=.)\/$/, '') || '/' };
  const plain = own.path.replace(/\{[^}]*\}/g, '{}');
  const key = isCaseSensitive ? plain : plain.toLowerCase();
  const first = known.get(key);
  if (first) return renamed(own, first);
  known.set(key, own);
  return own;
}

/**
 * Finds the middlewares of a route: the first one of several `idempotency()` guards it, and each `bindRequest()` binds.
 */
function describedBy({ method, handlers }: Route): Described {
  const guard = handlers
    .flatMap(handler => guards.of(handler) ?? [])
    .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase()));
  const all = [...new Set(handlers.flatMap(handler => endpoints.of(handler) ?? []))];
  return { guard, endpoint: all.at(-1), before: all.slice(0, -1) };
}

function isIn(version: string, { method, template }: Route): boolean {
  if (method !== 'query' || version === '3.2') return true;
  warnOnce(
    'BINDONCE_OPENAPI_QUERY',
    `openapi: QUERY ${template.path} is left out: OpenAPI 3.1 has no method QUERY (RFC 10008). Pass openapi: '3.2'.`,
  );
  return false;
}

/**
 * Names the operations: as the application says, with a number for each further path or method of one endpoint, else by
 * method and path.
 * @throws TypeError if two endpoints have the same name from the application.
 */
function operationIds(operations: readonly Operation[]): Map<Operation, string> {
  const names = new Map<Operation, string>();
  const taken = new Map<string, Operation>();
  const give = (operation: Operation, wanted: string): void => {
    const name = freeName(wanted, one => taken.has(one));
    names.set(operation, name);
    taken.set(name, operation);
  };
  const wantedBy = ({ endpoint }: Operation): string | undefined => endpoint?.operation.operationId;
  const given = operations.filter(one => wantedBy(one) !== undefined);
  for (const one of new Set(given.map(wantedBy))) {
    const [first, ...others] = given.filter(other => wantedBy(other) === one);
    const other = others.find(({ endpoint }) => endpoint !== first?.endpoint);
    if (first && other)
      throw new TypeError(
        `openapi: ${first.where} and ${other.where} have the same operationId, ${JSON.stringify(one)}. Give each endpoint ` +
          'one of its own, or none.',
      );
    if (first && one !== undefined) give(first, one);
  }
  for (const one of operations) if (!names.has(one)) give(one, wantedBy(one) ?? camelCase(one.where));
  return names;
}

/** Makes `postOrdersById` of `POST /orders/{id}`. */
function camelCase(where: string): string {
  const [method = '', path = ''] = where.split(' ');
  const words = path.replace(/\{([^}]*)\}/g, 'By-$1').split(/[^\p{L}\d]+/u);
  return [method.toLowerCase(), ...words.map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join('');
}
