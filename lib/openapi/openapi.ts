import { namingErrors } from '../binding/declaration/declaration-error';
import { operationsOf, type Operation } from './listed-operations';
import { operationIds } from './names/operation-ids';
import { operationOf, type Document } from './operation';
import { checkOpenApiOptions, type OpenApiOptions } from './options/openapi-options';
import { sdkExtensions } from './options/sdk-generators';
import { Security } from './options/security';
import type { Routed } from './routing/express-layers';
import { Components } from './schemas/components';

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
