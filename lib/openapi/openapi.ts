import { namingErrors } from '../binding/declaration/declarations';
import { Components } from './components';
import { freeName } from './express-paths';
import { checkOpenApiOptions, type OpenApiOptions } from './openapi-options';
import { operationsOf, type Operation } from './operations';
import { requestOf } from './requests';
import { responsesOf } from './responses';
import type { Routed } from './routes';
import { Security } from './security';

/** An OpenAPI document, ready for `JSON.stringify`. */
export interface OpenApiDocument {
  /** The version of the specification, for example `3.1.1`. */
  readonly openapi: string;
  /** The title and version of the API. */
  readonly info: OpenApiOptions['info'];
  /** The operations, by path and by method in lower case. */
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
  const { info, servers, tags, security: ofAll, jsonSchemaOf } = options;
  const security = namingErrors('openapi', () => new Security(options));
  const components = new Components(jsonSchemaOf);
  const paths = pathsOf(operationsOf(app, options), components, security);
  const version = options.openapi === '3.2' ? '3.2.0' : '3.1.1';
  const document = { openapi: version, info, servers, tags, security: ofAll, paths };
  return components.complete(document, { securitySchemes: security.schemes }) as OpenApiDocument;
}

/** Describes the operations by path and method. */
function pathsOf(
  operations: readonly Operation[],
  components: Components,
  security: Security,
): Record<string, Record<string, object>> {
  const names = operationIds(operations);
  const paths: Record<string, Record<string, object>> = {};
  for (const one of operations)
    namingErrors(`openapi: ${one.where}`, () => {
      const request = requestOf(one, components, security);
      const responses = responsesOf(one, request, components);
      (paths[one.path] ??= {})[one.method] = { operationId: names.get(one), ...request, responses };
    });
  return paths;
}

/**
 * Names the operations: as the application says, with a number for each further path or method of one endpoint, else by
 * method and path.
 * @throws TypeError if two endpoints have the same name from the application.
 */
function operationIds(operations: readonly Operation[]): Map<Operation, string> {
  const owners = new Map<string, Operation>();
  const idOf = ({ endpoint }: Operation): string | undefined => endpoint?.operation.operationId;
  for (const one of [...operations.filter(idOf), ...operations.filter(other => !idOf(other))]) {
    const id = idOf(one) ?? camelCase(one.where);
    const owner = owners.get(id);
    if (idOf(one) && owner && owner.endpoint !== one.endpoint)
      throw new TypeError(
        `openapi: ${owner.where} and ${one.where} have the same operationId, ${JSON.stringify(id)}. ` +
          'Give each endpoint one of its own, or none.',
      );
    const free = freeName(id, name => owners.has(name));
    owners.set(free, one);
  }
  return new Map([...owners].map(([name, one]) => [one, name]));
}

/** Makes `postOrdersById` of `POST /orders/{id}`. */
function camelCase(where: string): string {
  const [method = '', path = ''] = where.split(' ');
  const words = path.replace(/\{([^}]*)\}/g, 'By-$1').split(/[^\p{L}\d]+/u);
  return [method.toLowerCase(), ...words.map(word => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join('');
}
