import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import * as v from 'valibot';
import { toJsonSchema } from '@valibot/to-json-schema';
import {
  bindRequest,
  bool,
  dateTime,
  dto,
  enumOf,
  field,
  file,
  formField,
  fromBody,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  guid,
  hasPermission,
  idempotency,
  int,
  jsonField,
  list,
  long,
  nullable,
  openapi,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  valueParserFor,
  type AnyType,
  type OpenApiOptions,
} from '../../lib';
import { documentOf, info, operationOf, placesIn } from '../support/described';
import { bind } from '../support/one-endpoint';

const KINDS: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'multipart/form-data': 'form',
  'application/x-www-form-urlencoded': 'urlencoded',
};
const forms = { options: { allowFormData: { urlEncoded: true } } } as const;
const multipart = { options: { allowFormData: true } } as const;
const get = { method: 'get' } as const;

/** The places of all values of a dto, of a body that is one named schema those of that. */
async function placesOf(Dto: AnyType, options: Parameters<typeof operationOf>[1]): Promise<string> {
  const operation = await operationOf(Dto, options);
  const contents = Object.entries(operation.requestBody?.content ?? {}).map(([type, content]) => {
    const { $ref = '' } = content.schema as { $ref?: string };
    return [KINDS[type] ?? type, { schema: operation.schemas[$ref.split('/').at(-1) ?? ''] ?? content.schema }];
  });
  const requestBody = { required: true, content: Object.fromEntries(contents) as never };
  return placesIn({ ...operation, requestBody }).join(', ');
}

describe('openapi()', () => {
  class Line extends dto({ sku: string, quantity: int }) {}

  it.each<[string, AnyType, object]>([
    ['json a, json b?', dto({ a: string, b: optional(int) }), {}],
    ['query a', dto({ a: string }), get],
    ['path ID, json a', dto({ id: guid, a: int }), { path: '/:ID' }],
    ['query q?', dto({ q: queryParam(bool, { default: false }) }), {}],
    ['query q', dto({ q: queryParam(bool, { default: false, required: true }) }), {}],
    ['header X-H, cookie c', dto({ h: fromHeader(string, { name: 'X-H' }), c: fromCookie(string) }), {}],
    ['json b?', dto({ a: fromHeader(string, { name: 'Authorization' }), b: optional(string) }), {}],
    ['json a', dto({ sub: fromClaim(string), may: hasPermission('x', { required: false }), a: int }), {}],
    ['json sub?', dto({ sub: fromClaim(string, { required: false }) }), {}],
    ['', dto({ sub: fromClaim(string, { required: false, fallback: false }) }), {}],
    [
      'json unit_price, json AT',
      dto({ unitPrice: field(int, { bindFrom: 'p' }), at: field(int, { jsonPropertyName: 'AT' }) }),
      { options: { propertyNamingPolicy: 'snake_case' } },
    ],
    [
      'query page?, query sort?',
      dto({ all: fromQuery(dto({ page: field(int, { default: 1 }), sort: optional(string) })) }),
      get,
    ],
    ['form title, form picture', dto({ all: fromForm(dto({ title: string, picture: file })) }), multipart],
    ['form title, form picture', dto({ title: formField(string), picture: file }), forms],
    ['json a, form a, urlencoded a', dto({ a: int }), forms],
    ['path other, json a?', dto({ a: optional(int) }), { path: '/:other' }],
    ['query b, json a', dto({ a: jsonField(int), b: int }), get],
    [
      'path id, json a, json id',
      dto({ a: int, id: int }),
      { path: '/:id', method: 'get', options: { fieldSources: ['json'] } },
    ],
    ['path rest', dto({ rest: routeParam(list(string)) }), { path: '/*rest', method: 'get' }],
  ])('places %s', async (places, Dto, options) => {
    expect(await placesOf(Dto, options)).toBe(places);
  });

  it.each<[string, AnyType, object]>([
    [
      'long, which a client may send as text',
      long,
      { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
    ],
    ['dateTime', dateTime, { type: 'string', format: 'date-time' }],
    ['enumOf with null', nullable(enumOf(['asc'])), { anyOf: [{ type: 'string', enum: ['asc'] }, { type: 'null' }] }],
    ['nullable', nullable(string), { type: ['string', 'null'] }],
    ['a nested dto', Line, { $ref: '#/components/schemas/Line' }],
    ['a nullable dto', nullable(Line), { anyOf: [{ $ref: '#/components/schemas/Line' }, { type: 'null' }] }],
    ['zod', z.object({ a: z.string() }), { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
  ])('describes %s', async (_name, type, schema) => {
    const { requestBody } = await operationOf(dto({ value: field(type) }));
    const [content] = Object.values(requestBody?.content ?? {});
    expect(content?.schema).toMatchObject({ properties: { value: schema } });
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

  it('describes a response that is not declared as one of any type: without content, it would be empty', async () => {
    const { responses } = await operationOf(dto({ a: int }));
    expect(responses['200']?.content).toEqual({ '*/*': { schema: {} } });
    expect(Object.keys(responses['default']?.content ?? {})).toEqual(['application/problem+json', '*/*']);
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

  it('describes fields beside a whole form where a request with the form can have them: in the query', async () => {
    const Dto = dto({ form: fromForm(dto({ title: string })), a: int });
    expect(placesIn(await operationOf(Dto, multipart))).toEqual(['query a', 'multipart/form-data title']);
    const { dto: bound } = await bind(Dto, { path: '/?a=1', multipart: [['title', 'Tea']] }, multipart.options);
    expect(bound).toEqual({ form: { title: 'Tea' }, a: 1 });
  });

  it('describes a list in a cookie or a header as it is read: a text with commas', async () => {
    const Dto = dto({ a: fromCookie(list(int)), b: fromHeader(list(int), { name: 'X-B' }) });
    const schema = { type: 'string', description: 'The items, with commas between them.' };
    expect((await operationOf(Dto)).parameters).toMatchObject([{ schema }, { schema }]);
    const { dto: bound } = await bind(Dto, { headers: { Cookie: 'a=1,2', 'X-B': '3,4' } });
    expect(bound).toEqual({ a: [1, 2], b: [3, 4] });
  });

  it('describes a list in a wildcard as text with slashes: no list of OpenAPI has them', async () => {
    const Dto = dto({ path: routeParam(list(int)) });
    const { parameters } = await operationOf(Dto, { path: '/files/*path' });
    const description = 'One segment or more, with slashes between them, which are not encoded.';
    expect(parameters).toEqual([{ name: 'path', in: 'path', required: true, description, schema: { type: 'string' } }]);
    const sent = async (path: string) => (await bind(Dto, { path }, { route: '/files/*path' })).dto;
    expect([await sent('/files/1/2'), await sent('/files/1,2')]).toEqual([{ path: [1, 2] }, undefined]);
  });

  it('says what the endpoint says of itself', async () => {
    const texts = { summary: 'Places an order', description: 'Once.', tags: ['orders'] };
    const operation = { ...texts, operationId: 'placeOrder', deprecated: true };
    const examples = { small: { summary: 'One', value: { a: 1 } } };
    const placeOrder = dto({ a: jsonField(int) });
    expect(await operationOf(placeOrder, { options: { openapi: { ...operation, examples } } })).toMatchObject({
      ...operation,
      requestBody: { content: { 'application/json': { examples } } },
    });
    const app = express().get('/', bindRequest(dto({ a: int }), { openapi: { hidden: true } }));
    expect(documentOf(app).paths).toEqual({});
  });

  describe('tells the truth about', () => {
    class Money {
      constructor(readonly text: string) {}
    }

    it.each<[string, AnyType, object]>([
      [
        'header X-A',
        dto({ a: fromHeader(string, { name: 'X-A', required: false }), b: fromHeader(string, { name: 'x-a' }) }),
        {},
      ],
      [
        'query q, query r',
        dto({ a: queryParam(int, { bindFrom: 'q' }), all: fromQuery(dto({ Q: optional(int), r: string })) }),
        get,
      ],
      ['form q', dto({ a: formField(int, { bindFrom: 'q' }), b: formField(int, { bindFrom: 'Q' }) }), multipart],
      ['path id, json id', dto({ id: field(int, { jsonRequired: true }) }), { path: '/:id' }],
      ['json a, json b', dto({ a: field(optional(int), { jsonRequired: true }), b: int }), forms],
      ['json a', dto({ a: field(int, { jsonRequired: true }) }), get],
      ['query a', dto({ text: plainText(), a: int }), forms],
      ['query a, json sku, json quantity', dto({ body: fromBody(Line), a: int }), forms],
      [
        'query a, query b?, path c, form title',
        dto({
          form: fromForm(dto({ title: string })),
          a: int,
          b: optional(int),
          c: field(int, { dontBind: ['query'] }),
        }),
        { path: '/:c', options: { allowFormData: true } },
      ],
      ['json a, json b', dto({ f: optional(file), a: field(int, { dontBind: ['form'] }), b: int }), multipart],
      ['query tags?, query a', dto({ all: fromQuery(dto({ tags: list(string), a: int })) }), get],
      [
        'query b',
        dto({ all: fromQuery(dto({ a: field(int, { dontBind: ['query'], required: false }), b: int })) }),
        get,
      ],
      [
        'query a, json b',
        dto({ a: field(Money), b: int }),
        {
          options: { valueParsers: [valueParserFor(Money, text => ({ success: true, value: new Money(text ?? '') }))] },
        },
      ],
      ['json a?, json b', dto({ a: field(z.string().optional()), b: field(z.string()) }), {}],
    ])('%s', async (places, Dto, options) => {
      expect(await placesOf(Dto, options)).toBe(places);
    });

    it.each<[string, AnyType, object, object]>([
      [
        'text that a value parser reads',
        dto({ a: int }),
        { valueParsers: [valueParserFor(int, () => ({ success: true, value: 1 }))] },
        { type: 'string' },
      ],
      [
        'all names of a union',
        dto({ all: fromQuery(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])) }),
        {},
        { anyOf: [{}, {}] },
      ],
    ])('%s, in a query', async (_what, Dto, options, schema) => {
      const { parameters } = await operationOf(Dto, { method: 'get', options });
      expect(parameters).toMatchObject([{ in: 'query', schema }]);
    });
  });

  const of = (options: unknown, app: unknown = express()): unknown => openapi(app as never, options as OpenApiOptions);
  const posting = (...handlers: unknown[]): unknown =>
    of({ info }, express().post('/', ...(handlers as RequestHandler[])));
  const example = "Write openapi(app, { info: { title: 'Orders', version: '1.0.0' } }).";
  const noRouter = 'must be an Express application or router, not';

  it.each<[() => unknown, string]>([
    [() => of({ info }, {}), `openapi: the first argument ${noRouter} an object. Pass what express() or `],
    [
      () => of({ info, mounts: { '/a': null } }),
      `openapi: /a in the option mounts ${noRouter} null. Pass what express()`,
    ],
    [() => of(undefined), `openapi: the options are missing. ${example}`],
    [() => of({}), `openapi: the option info is missing. ${example}`],
    [() => of({ inf: info }), 'openapi: there is no option "inf"; did you mean "info"? Write openapi(app, { info: {'],
    [() => of(express(), { info }), 'openapi: options must be an object, not a function. Write openapi(app, { info: {'],
    [
      () => posting(bindRequest(dto({ a: field(list(dto({ at: z.date() }))) }))),
      'openapi: POST /: property a: property at: this schema of zod cannot be written as JSON Schema (Date cannot be ' +
        'represented in JSON Schema). Pass jsonSchemaOf',
    ],
    [
      () => posting(bindRequest(dto({}), { responses: { 200: z.date() } })),
      'openapi: POST /: response 200: this schema of zod cannot be written as JSON Schema',
    ],
    [() => posting(idempotency({ swaggerHeaderType: class Key {} })), 'openapi: POST /: '],
    [
      () => {
        const app = express();
        for (const path of ['/a', '/b']) app.get(path, bindRequest(dto({ a: int }), { openapi: { operationId: 'x' } }));
        return of({ info }, app);
      },
      'openapi: GET /a and GET /b have the same operationId, "x". Give each endpoint one of its own, or none.',
    ],
  ])('refuses %s: %s', (make, message) => {
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
