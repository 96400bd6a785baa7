import { endpoints } from '../binding/bind-request';
import { namingErrors } from '../binding/declaration/declaration-error';
import { guards } from '../idempotency/idempotency';
import { boolean, checkOptions, fn, object, oneOf, type Rule } from '../options/check';
import { warnOnce } from '../warnings/warn-once';
import { Components } from './components';
import { operationOf, type Described } from './operation';
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
 * `bindRequest()` read, and what they answer. Call it when all routes are mounted.
 * @throws TypeError for an unknown option or an invalid value, for two operations of one `operationId`, and for a route
 * that cannot be described; the message names it.
 */
export function openapi(app: Routed, options: OpenApiOptions): OpenApiDocument {
  checkOptions('openapi', options, { ...rules, info: rules.info });
  if (!isInfo((options as Partial<OpenApiOptions>).info))
    throw new TypeError('openapi: info must be { title, version }');
  const { info, servers, tags, securityScheme = { type: 'http', scheme: 'bearer' } } = options;
  const version = options.openapi ?? '3.1';
  const components = new Components(options.jsonSchemaOf);
  const paths: Record<string, Record<string, object>> = {};
  const names = new OperationNames();
  for (const route of routesOf(app, options.mounts)) {
    const described = describedBy(route);
    const isOurs = described.guard ?? described.endpoint;
    if (described.endpoint?.operation.hidden || !(isOurs ?? options.listOthers)) continue;
    const path = route.template.path.replace(/(?<=.)\/$/, '') || '/';
    // Express runs the route that was added first.
    if (paths[path]?.[route.method] || !isIn(version, route)) continue;
    const where = `${route.method.toUpperCase()} ${path}`;
    const operation = namingErrors(`openapi: ${where}`, () => operationOf(route, described, components));
    const operationId = names.of(where, described.endpoint?.operation.operationId);
    (paths[path] ??= {})[route.method] = { operationId, ...operation };
  }
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

/** Finds the middlewares of a route; of several of one kind, the last one binds, and the first one guards. */
function describedBy({ method, handlers }: Route): Described {
  const guard = handlers
    .flatMap(handler => guards.of(handler) ?? [])
    .find(({ methods }) => methods === undefined || methods.includes(method.toUpperCase()));
  return { guard, endpoint: handlers.flatMap(handler => endpoints.of(handler) ?? []).at(-1) };
}

function isIn(version: string, { method, template }: Route): boolean {
  if (method !== 'query' || version === '3.2') return true;
  warnOnce(
    'BINDONCE_OPENAPI_QUERY',
    `openapi: QUERY ${template.path} is left out: OpenAPI 3.1 has no method QUERY (RFC 10008). Pass openapi: '3.2'.`,
  );
  return false;
}

/** The names of the operations of one document. */
class OperationNames {
  private readonly given = new Map<string, string>();

  /** @throws TypeError if another operation has the name that the application gives. */
  of(where: string, wanted: string | undefined): string {
    const name = wanted ?? this.free(camelCase(where));
    const other = this.given.get(name);
    if (other !== undefined)
      throw new TypeError(`openapi: ${other} and ${where} have the same operationId, ${JSON.stringify(name)}.`);
    this.given.set(name, where);
    return name;
  }

  private free(name: string): string {
    let free = name;
    for (let count = 2; this.given.has(free); count++) free = `${name}${count}`;
    return free;
  }
}

/** Makes `postOrdersById` of `POST /orders/{id}`. */
function camelCase(where: string): string {
  const [method = '', path = ''] = where.split(' ');
  const words = path.replace(/\{([^}]*)\}/g, 'By-$1').split(/[^\p{L}\d]+/u);
  return [method.toLowerCase(), ...words.map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join('');
}
