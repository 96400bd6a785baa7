import express, { type RequestHandler } from 'express';
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
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
  type OpenApiOptions,
} from '../../lib';
import { ask } from '../support/ask';
import { documentOf, info, operationOf, placesIn, type Operation } from '../support/described';
import { expressVersions } from '../support/express-versions';

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
    ['one that is required', dto({ q: queryParam(bool, { default: false, required: true }) }), {}, ['query q']],
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

  it('describes classes that all refer to each other, each once', async () => {
    const classes: AnyType[] = [];
    const others = (own: number): Record<string, AnyType> =>
      Object.fromEntries(
        Array.from({ length: 12 }, (_, index) => index)
          .filter(index => index !== own)
          .map(index => [`of${index}`, list(lazy((): AnyType => classes[index] ?? int))]),
      );
    for (let index = 0; index < 12; index++) {
      const name = `Node${index}`;
      classes.push({ [name]: class extends dto(others(index)) {} }[name] as AnyType);
    }
    const { schemas } = await operationOf(dto({ first: classes[0] ?? int }));
    expect(Object.keys(schemas).filter(name => name.startsWith('Node'))).toHaveLength(12);
    expect(schemas).toMatchObject({
      Node3: { properties: { of7: { items: { $ref: '#/components/schemas/Node7' } } } },
    });
  });

  it('describes a class that is sent as text or as an object, and is written as an object', async () => {
    class Point extends dto({ x: int, y: int }) {
      static tryParse(): { success: false } {
        return { success: false };
      }
    }
    const { requestBody, responses, schemas } = await operationOf(dto({ at: field(Point) }), {
      options: { responses: { 200: dto({ at: field(Point) }) } },
    });
    const point = { $ref: '#/components/schemas/Point' };
    const texts = JSON.stringify([requestBody, responses, schemas]);
    expect(texts).toContain(JSON.stringify({ at: { anyOf: [{ type: 'string', title: 'Point' }, point] } }));
    expect(texts).toContain(JSON.stringify({ at: point }));
    expect(schemas).toMatchObject({ Point: { properties: { x: {}, y: {} } } });
  });

  it('names a schema as its class, if that is the name of what every object has', async () => {
    class Holder extends dto({
      made: field({ constructor: class extends dto({ a: int }) {} }.constructor as AnyType),
    }) {}
    expect(Object.keys((await operationOf(Holder)).schemas)).toContain('constructor');
  });

  describe('names the schema of a class', () => {
    class Money extends dto({ amount: decimal }) {}
    class Basket extends dto({ lines: field(list(Line)), next: optional(lazy((): AnyType => Basket)) }) {}

    const namesIn = (app: express.Express): string[] => {
      const { schemas } = documentOf(app)['components'] as { schemas: object };
      return Object.keys(schemas).filter(name => !['Problem', 'InvalidValue'].includes(name));
    };
    const reads = (Dto: AnyType, options: BindingOptions = {}): express.RequestHandler =>
      bindRequest(dto({ value: field(Dto) }), options) as express.RequestHandler;
    const answers = (Dto: AnyType): express.RequestHandler =>
      bindRequest(dto({ q: optional(int) }), { responses: { 200: Dto } }) as express.RequestHandler;

    it.each<[string, (app: express.Express) => unknown, string[]]>([
      [
        'once, whatever the limits of its endpoints are',
        app => app.post('/a', reads(Basket)).post('/b', reads(Basket, { limits: { items: 5 } })),
        ['Basket', 'Line'],
      ],
      [
        'once for requests and responses, if they are equal',
        app => app.post('/a', reads(Basket)).get('/a', answers(Basket)),
        ['Basket', 'Line'],
      ],
      ['plainly, if only responses have it', app => app.get('/a', answers(Money)), ['Money']],
      [
        'with a suffix in responses, if requests have another one',
        app => app.post('/a', reads(Money)).get('/a', answers(Money)),
        ['Money', 'MoneyResponse'],
      ],
      [
        'with the same names in another order of the routes',
        app => app.get('/a', answers(Money)).post('/a', reads(Money)),
        ['MoneyResponse', 'Money'],
      ],
      [
        'with a number, if another request has another one',
        app => app.post('/a', reads(Line)).post('/b', reads(Line, { propertyNamingPolicy: 'PascalCase' })),
        ['Line', 'Line2'],
      ],
    ])('%s', (_what, mount, names) => {
      const app = express();
      mount(app);
      expect(namesIn(app)).toEqual(names);
    });

    it('without the limits of an endpoint: others share it', async () => {
      const { schemas, requestBody } = await operationOf(dto({ all: list(Basket) }));
      expect(JSON.stringify(schemas)).not.toContain('maxItems');
      expect(JSON.stringify(requestBody)).toContain('maxItems');
    });

    it('so that each direction refers to its own', async () => {
      const { schemas, responses, requestBody } = await operationOf(dto({ price: Money }), {
        options: { responses: { 200: Money } },
      });
      expect(schemas).toMatchObject({
        Money: { properties: { amount: { type: ['string', 'number'] } } },
        MoneyResponse: { properties: { amount: { type: 'number' } } },
      });
      expect(requestBody?.content['application/json']?.schema).toMatchObject({
        properties: { price: { $ref: '#/components/schemas/Money' } },
      });
      expect(responses['200']?.content?.['application/json']?.schema).toEqual({
        $ref: '#/components/schemas/MoneyResponse',
      });
    });
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
    expect(responses['2XX']?.content).toEqual({ '*/*': { schema: {} } });
  });

  it('does not require the body of a GET that is a list: without one, it is empty', async () => {
    const app = express();
    const answer: RequestHandler = (req, res) => void res.json(req.dto);
    app
      .route('/')
      .get(bindRequest(list(int)) as RequestHandler, answer)
      .post(bindRequest(list(int)) as RequestHandler, answer);
    const { get, post } = documentOf(app).paths['/'] as Record<string, Operation>;
    expect([get?.requestBody?.required, post?.requestBody?.required]).toEqual([false, true]);
    const statuses = await Promise.all(['GET', 'POST'].map(async method => (await ask(app, { method })).status));
    expect(statuses).toEqual([200, 400]);
  });

  it('describes no content of a status that has none', async () => {
    const { responses } = await operationOf(dto({ q: queryParam(int) }), {
      options: { responses: { 200: Line, 204: Line } },
    });
    expect([responses['200']?.content, responses['204']?.content]).toEqual([expect.anything(), undefined]);
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
      ['of an idempotent endpoint', dto({ a: fromHeader(string) }), {}, {}, ['400', '409', '413', '503', '507']],
      [
        'of a reused key, without reading the body',
        dto({ a: fromHeader(string) }),
        {},
        { whenKeyReused: 'reject', ignoreRequestBody: true },
        ['400', '409', '422', '503'],
      ],
      [
        'of a body that only the endpoint reads',
        dto({ a: int }),
        {},
        { ignoreRequestBody: true },
        ['400', '409', '413', '415', '503'],
      ],
    ])('%s', async (_what, Dto, options, guard, expected) => {
      expect(await refusals(Dto, options, guard)).toEqual(expected);
    });

    const ok: RequestHandler = (_req, res) => void res.end();

    it('of a guard alone, which reads the body where a request has one', () => {
      const app = express();
      app.route('/').all(idempotency()).get(ok).post(ok);
      const { get, post } = documentOf(app).paths['/'] as Record<string, Operation>;
      expect(Object.keys(get?.responses ?? {})).toEqual(['400', '409', '503', '2XX']);
      expect(Object.keys(post?.responses ?? {})).toEqual(['400', '409', '413', '503', '507', '2XX']);
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
          description: expect.stringMatching(/ for 10 minutes\. Another request with this key runs\.$/) as string,
          schema: { type: 'string', minLength: 1 },
        },
      ],
      [
        'with what happens to another request that has it',
        { whenKeyReused: 'reject', cacheDuration: 86_400_000 },
        {
          description:
            "A key of the client's choice, new for each operation and the same for its retries. A retry, which is the " +
            'same request with the same key, gets the stored response for 1 day. Another request with this key is ' +
            'refused with 422.',
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
      [
        'by its pattern in words, if JSON Schema cannot say it',
        { keyPattern: /^(?<a>x)$/i, swaggerHeaderDescription: 'Mine.' },
        {
          description: 'Mine.',
          schema: {
            type: 'string',
            minLength: 1,
            description: 'It must match the JavaScript regular expression /^(?<a>x)$/i.',
          },
        },
      ],
      [
        'by its pattern in words, if it is a number',
        { keyPattern: /^\d{3}$/, swaggerHeaderType: int },
        { schema: { type: 'integer', description: 'It must match the JavaScript regular expression /^\\d{3}$/.' } },
      ],
    ])('%s', async (_what, options, header) => {
      expect(await keyHeader(options)).toMatchObject([header]);
    });

    it.each<[string, IdempotencyOptions, AnyType, object]>([
      ['with its type', {}, guid, { required: true, schema: { type: 'string', format: 'uuid' } }],
      ['which cannot make it optional', {}, optional(guid), { required: true }],
      ['which can make it required', { whenKeyMissing: 'run' }, guid, { required: true }],
      ['and optional, if neither requires it', { whenKeyMissing: 'run' }, optional(guid), { required: false }],
      ['with the pattern of keys', { keyPattern: /^a/ }, string, { schema: { minLength: 1, pattern: '^a' } }],
      [
        'with the pattern of keys and its type',
        { keyPattern: /^a/ },
        guid,
        { schema: { allOf: [{ format: 'uuid' }, { pattern: '^a' }] } },
      ],
    ])('once, if the dto has the header, too: %s', async (_what, options, type, header) => {
      const Dto = dto({ key: fromHeader(type, { name: 'idempotency-key' }) });
      expect(await keyHeader(options, Dto)).toEqual([
        expect.objectContaining({
          name: 'idempotency-key',
          description: expect.stringContaining("A key of the client's choice") as string,
          'x-idempotency-key': { replayedHeader: 'Idempotent-Replayed' },
        }),
      ]);
      expect(await keyHeader(options, Dto)).toMatchObject([header]);
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

    const ends: RequestHandler = (_req, res) => void res.json(null);
    const passes: RequestHandler = (_req, _res, next) => {
      next();
    };
    const binds = bindRequest(dto({ b: int })) as RequestHandler;

    it.each<[string, (app: express.Express) => unknown]>([
      ['of one path', app => app.post('/x', idempotency()).post('/x', binds, ends)],
      ['of all methods, and of one', app => app.all('/x', idempotency()).post('/x', binds, ends)],
      ['with another handler', app => app.post('/x', idempotency(), passes).post('/x', binds, ends)],
      [
        'each with a dto',
        app => app.post('/x', idempotency(), bindRequest(dto({ b: optional(int) }))).post('/x', binds, ends),
      ],
      ['under two names', app => app.post('/:first', idempotency()).post('/:second', binds, ends)],
      ['of another router', app => app.use(version.Router().post('/x', idempotency())).post('/x', binds, ends)],
    ])('describes together the routes that a request runs through, one after the other: %s', async (_what, mount) => {
      const app = version();
      mount(app);
      const post = Object.values(documentOf(app).paths)[0]?.['post'] as Operation;
      expect(placesIn(post).filter(place => !place.startsWith('path'))).toEqual([
        'header Idempotency-Key',
        'application/json b',
      ]);
      const path = '/x';
      const key = { 'Idempotency-Key': '1' };
      const json = { 'Content-Type': 'application/json' };
      const send = async (headers: Record<string, string>, body?: string) =>
        (await ask(app, { method: 'POST', path, headers, body })).status;
      expect([await send(json, '{"b":1}'), await send(key), await send({ ...key, ...json }, '{"b":1}')]).toEqual([
        400, 400, 200,
      ]);
    });

    it.each<[string, (app: express.Express) => unknown, string[]]>([
      [
        'a name of its own',
        app => app.use('/x/:own', bindRequest(dto({ own: int }))).post('/x/:id', binds, ends),
        ['path id integer', 'application/json b'],
      ],
      [
        'a name of its own, in a route that passes requests on',
        app => app.post(['/y', '/x/:own'], bindRequest(dto({ own: int }))).post('/x/:id', binds, ends),
        ['path id integer', 'application/json b'],
      ],
      [
        'a name of its own, which may be missing',
        app => {
          const path = version === express ? '/x{/:own}' : '/x/:own?';
          app.use(path, bindRequest(dto({ own: int }))).post('/x/:id', binds, ends);
        },
        ['path id integer', 'application/json b'],
      ],
      [
        'no name, in front of all paths',
        app => app.use(bindRequest(dto({ id: optional(int) }))).post('/x/:id', binds, ends),
        ['path id string', 'application/json id?', 'application/json b'],
      ],
      [
        'the names around its router',
        app =>
          app.use(
            '/:x',
            version
              .Router({ mergeParams: true })
              .use('/:own', bindRequest(dto({ x: string, own: int })))
              .post('/:id', binds, ends),
          ),
        ['path x string', 'path id integer', 'application/json b'],
      ],
    ])('describes what a middleware reads of the path, which has %s there', async (_what, mount, places) => {
      const app = version();
      mount(app);
      const [described = ''] = Object.keys(documentOf(app).paths).filter(path => path.includes('{id}'));
      const post = documentOf(app).paths[described]?.['post'] as Operation;
      const typed = placesIn(post).map((place, at) => {
        const { schema } = post.parameters?.[at] ?? {};
        return schema ? `${place} ${(schema as { type: string }).type}` : place;
      });
      expect(typed).toEqual(places);
      expect((await ask(app, { path: '/x/7', json: { b: 1 } })).status).toBe(200);
    });

    it('describes the first of two routes that answer', async () => {
      const app = version();
      const answers: RequestHandler = (_req, res, next) => {
        if (res.headersSent) next();
        else res.json(null);
      };
      app.post('/x', bindRequest(dto({ a: int })) as RequestHandler, answers);
      app.post('/x', idempotency(), binds, ends);
      expect(placesIn(documentOf(app).paths['/x']?.['post'] as Operation)).toEqual(['application/json a']);
      const request = { method: 'POST', path: '/x', headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' };
      expect((await ask(app, request)).status).toBe(200);
    });

    it('tells a path with a slash at its end from one without, where they are two routes', async () => {
      const app = version();
      app.set('strict routing', true);
      app.post('/x/', binds, ends);
      expect(Object.keys(documentOf(app).paths)).toEqual(['/x/']);
      const post = async (path: string) =>
        (await ask(app, { method: 'POST', path, headers: { 'Content-Type': 'application/json' }, body: '{"b":1}' }))
          .status;
      expect([await post('/x'), await post('/x/')]).toEqual([404, 200]);
    });

    const optional5 = (name: string): string => (version === express ? `{/:${name}}` : `/:${name}?`);
    const digits = version === express ? '/:page' : '/:page(\\d+)';

    it.each<[string, (app: express.Express) => unknown, string[], string[]]>([
      [
        'a part that may be missing before a router takes what comes next',
        app => app.use(`/m${optional5('o')}`, version.Router().get('/', bound, ends).get('/x', bound, ends)),
        ['/m', '/m/{o}', '/m/{o}/x'],
        ['/x', '/m/7/8'],
      ],
      [
        'a part that may be missing at the beginning of a mount does not',
        app => app.use(`${optional5('o')}/m`, version.Router().get('/x', bound, ends)),
        ['/m/x', '/{o}/m/x'],
        ['/x'],
      ],
      [
        'a router with a parameter in front of it',
        app => app.use(digits, version.Router().get('/x', bound, ends)),
        ['/{page}/x'],
        ['/x'],
      ],
      [
        'a strict application has no empty path',
        app => app.set('strict routing', true).get(optional5('o'), bound, ends),
        ['/{o}'],
        ['/'],
      ],
      [
        'a strict router has none, either',
        app => app.use('/s', version.Router({ strict: true }).get(optional5('o'), bound, ends)),
        ['/s/{o}'],
        ['/s', '/s/'],
      ],
    ])('describes the paths that are answered: %s', async (_what, mount, answered, others) => {
      const app = version();
      mount(app);
      const paths = Object.keys(documentOf(app).paths);
      expect(paths.sort()).toEqual(answered.sort());
      const get = async (path: string) => (await ask(app, { method: 'GET', path })).status;
      for (const path of paths) expect(await get(path.replace(/\{\w+\}/g, '7'))).toBe(200);
      for (const path of others) expect(await get(path)).toBe(404);
    });

    it('finds an application that is mounted in another, if `mounts` names it', async () => {
      const [app, admin] = [version(), version()];
      admin.get('/users', bound);
      app.use('/admin', admin);
      expect(Object.keys(documentOf(app).paths)).toEqual([]);
      expect(Object.keys(documentOf(app, { mounts: { '/admin': admin } }).paths)).toEqual(['/admin/users']);
    });
  });

  it('describes fields beside a whole form where a request with the form can have them: in the query', async () => {
    const Dto = dto({ form: fromForm(dto({ title: string })), a: int });
    const app = express().post('/', bindRequest(Dto, { allowFormData: true }) as RequestHandler, (req, res) => {
      res.json(req.dto);
    });
    expect(placesIn(documentOf(app).paths['/']?.['post'] as Operation)).toEqual([
      'query a',
      'multipart/form-data title',
    ]);
    const { body } = await ask(app, { path: '/?a=1', multipart: [['title', 'Tea']] });
    expect(body).toEqual({ form: { title: 'Tea' }, a: 1 });
  });

  it('describes a list in a cookie as it is read: with commas', async () => {
    const app = express().get('/', bindRequest(dto({ a: fromCookie(list(int)), b: fromCookie(int) })), (req, res) => {
      res.json(req.dto.a);
    });
    const { parameters } = documentOf(app).paths['/']?.['get'] as Operation;
    expect(parameters).toMatchObject([{ name: 'a', style: 'form', explode: false }, { name: 'b' }]);
    expect(parameters?.[1]).not.toHaveProperty('style');
    const { body } = await ask(app, { method: 'GET', headers: { Cookie: 'a=1,2; b=3' } });
    expect(body).toEqual([1, 2]);
  });

  it.each(expressVersions)(
    'describes a list in a wildcard as text with slashes: no list of OpenAPI has them (%s)',
    async (title, version) => {
      const [path, name] = title === 'Express 5' ? ['/files/*path', 'path'] : ['/files/*', '0'];
      const app = version();
      const Dto = dto({ [name]: routeParam(list(int)) });
      app.get(path, bindRequest(Dto) as RequestHandler, (req, res) => void res.json(req.dto));
      const { parameters } = documentOf(app).paths[`/files/{${name}}`]?.['get'] as Operation;
      const description = 'The items, with slashes between them, which are not encoded.';
      expect(parameters).toEqual([{ name, in: 'path', required: true, description, schema: { type: 'string' } }]);
      const ids = async (sent: string) => (await ask(app, { method: 'GET', path: `/files/${sent}` })).body as unknown;
      expect(await ids('1/2')).toEqual({ [name]: [1, 2] });
      expect(await ids('1,2')).toMatchObject({ status: 400 });
    },
  );

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

  describe('tells the truth about', () => {
    class Page extends dto({ number: int, picture: file }) {}
    class InQuery extends dto({ a: field(int, { dontBind: ['json'] }), b: int }) {}
    class Both extends dto({ a: field(int, { dontBind: ['json'], required: false }), b: optional(int) }) {}
    class Money {
      constructor(readonly text: string) {}
    }
    const forms = { options: { allowFormData: { urlEncoded: true } } } as const;

    it.each<[string, AnyType, object, string[]]>([
      [
        'headers of one name',
        dto({ a: fromHeader(string, { name: 'X-A', required: false }), b: fromHeader(string, { name: 'x-a' }) }),
        {},
        ['header X-A'],
      ],
      [
        'query parameters of one name in two spellings',
        dto({ a: queryParam(int, { bindFrom: 'q' }), all: fromQuery(dto({ Q: optional(int), r: string })) }),
        { method: 'get' },
        ['query q', 'query r'],
      ],
      [
        'form fields of one name',
        dto({ a: formField(int, { bindFrom: 'q' }), b: formField(int, { bindFrom: 'Q' }) }),
        { options: { allowFormData: true } },
        ['multipart/form-data q'],
      ],
      [
        'a path parameter that two properties read',
        dto({ a: routeParam(int, { bindFrom: 'id' }), b: routeParam(int, { bindFrom: 'id' }) }),
        { path: '/:id' },
        ['path id'],
      ],
      [
        'a path parameter that the JSON body must have, too',
        dto({ id: field(int, { jsonRequired: true }) }),
        { path: '/:id' },
        ['path id', 'application/json id'],
      ],
      [
        'a field that JSON must have, which no form can',
        dto({ a: field(optional(int), { jsonRequired: true }), b: int }),
        forms,
        ['application/json a', 'application/json b'],
      ],
      [
        'a field of a GET that JSON must have',
        dto({ a: field(int, { jsonRequired: true }) }),
        { method: 'get' },
        ['application/json a'],
      ],
      [
        'an object that JSON cannot hold, since a property of it does not bind from there',
        dto({ a: InQuery, b: optional(InQuery) }),
        {},
        ['query a', 'query b?'],
      ],
      [
        'an object that only a form holds',
        dto({ a: InQuery, b: int }),
        forms,
        [
          'multipart/form-data a',
          'multipart/form-data b',
          'application/x-www-form-urlencoded a',
          'application/x-www-form-urlencoded b',
        ],
      ],
      [
        'a field of a GET that does not bind from the query',
        dto({ a: field(int, { dontBind: ['query'] }) }),
        { method: 'get' },
        ['application/json a'],
      ],
      ['other fields beside plain text, which no text holds', dto({ text: plainText(), a: int }), forms, ['query a']],
      [
        'other fields beside a whole body',
        dto({ body: fromBody(Line), a: int }),
        forms,
        ['query a', 'application/json sku', 'application/json quantity'],
      ],
      [
        'other fields beside a whole form, which are not bound from it',
        dto({
          form: fromForm(dto({ title: string })),
          a: int,
          b: optional(int),
          c: field(int, { dontBind: ['query'] }),
        }),
        { path: '/:c', options: { allowFormData: true } },
        ['query a', 'query b?', 'path c', 'multipart/form-data title'],
      ],
      [
        'other fields beside a whole form that may be missing, where no form is accepted',
        dto({ form: fromForm(optional(dto({ title: string }))), a: int }),
        {},
        ['application/json a'],
      ],
      [
        'a field that no form holds, beside a file',
        dto({ f: file, a: field(int, { dontBind: ['form'] }), b: int }),
        { options: { allowFormData: true } },
        ['query a', 'multipart/form-data f', 'multipart/form-data b'],
      ],
      [
        'a field that no form holds, beside a file that may be missing',
        dto({ f: optional(file), a: field(int, { dontBind: ['form'] }), b: int }),
        { options: { allowFormData: true } },
        ['application/json a', 'application/json b'],
      ],
      [
        'lists of a whole form or query, which are empty if they are not sent',
        dto({ all: fromQuery(dto({ tags: list(string), a: int })) }),
        { method: 'get' },
        ['query tags?', 'query a'],
      ],
      [
        'files of a nested dto, which JSON cannot hold, nor an urlencoded form',
        dto({ form: fromForm(dto({ title: string, cover: Page })) }),
        forms,
        ['multipart/form-data title', 'multipart/form-data cover.number', 'multipart/form-data cover.picture'],
      ],
      [
        'names that a nested dto does not bind from the source',
        dto({ all: fromQuery(dto({ a: field(int, { dontBind: ['query'], required: false }), b: int })) }),
        { method: 'get' },
        ['query b'],
      ],
      [
        'a type that a value parser alone reads, which JSON cannot hold',
        dto({ a: field(Money), b: int }),
        {
          options: { valueParsers: [valueParserFor(Money, text => ({ success: true, value: new Money(text ?? '') }))] },
        },
        ['query a', 'application/json b'],
      ],
      [
        'a schema that may be missing',
        dto({ a: field(z.string().optional()), b: field(z.string()) }),
        {},
        ['application/json a?', 'application/json b'],
      ],
    ])('%s', async (_what, Dto, options, places) => {
      const operation = await operationOf(Dto, options);
      const { content } = operation.requestBody ?? {};
      const [body] = Object.values(content ?? {});
      const { $ref = '' } = (body?.schema ?? {}) as { $ref?: string };
      const whole = operation.schemas[$ref.split('/').at(-1) ?? ''];
      const requestBody = operation.requestBody && {
        ...operation.requestBody,
        content: whole ? { 'application/json': { schema: whole } } : (content ?? {}),
      };
      expect(placesIn({ ...operation, requestBody } as Operation)).toEqual(places);
    });

    it.each<[string, AnyType, object, object]>([
      [
        'null, which text cannot say',
        dto({ a: nullable(list(nullable(int))) }),
        {},
        { type: 'array', items: { type: 'integer' } },
      ],
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
      ['an enum of numbers', dto({ a: enumOf({ Low: 1, High: 2 }) }), {}, { type: 'number', enum: [1, 2] }],
      [
        'an integer that is read as text, too',
        dto({ a: queryParam(string, { bindFrom: 'q' }), b: queryParam(int, { bindFrom: 'q' }) }),
        {},
        { type: 'integer' },
      ],
      [
        'an integer that is read as a list, too',
        dto({ a: queryParam(int, { bindFrom: 'q' }), b: queryParam(list(int), { bindFrom: 'q' }) }),
        {},
        { anyOf: [{ type: 'integer' }, { type: 'array' }] },
      ],
      [
        'two kinds of integers',
        dto({ a: queryParam(int, { bindFrom: 'q' }), b: queryParam(long, { bindFrom: 'q' }) }),
        {},
        { allOf: [{ type: 'integer' }, { type: ['string', 'integer'] }] },
      ],
    ])('%s, in a query', async (_what, Dto, options, schema) => {
      const { parameters } = await operationOf(Dto, { method: 'get', options });
      expect(parameters).toMatchObject([{ in: 'query', schema }]);
    });

    it('a property of a nested dto that JSON must have', async () => {
      class Line extends dto({ sku: string, note: field(optional(string), { jsonRequired: true }) }) {}
      const app = express().post(
        '/',
        bindRequest(dto({ line: Line })) as RequestHandler,
        (_req, res) => void res.json(null),
      );
      const { schemas } = documentOf(app)['components'] as { schemas: object };
      expect(schemas).toMatchObject({ Line: { required: ['sku', 'note'] } });
      const { body } = await ask(app, { json: { line: { sku: 'tea' } } });
      expect(body).toMatchObject({ errors: [{ name: 'line.note' }] });
    });

    it('a list of lists, which a query has as JSON', async () => {
      const { parameters } = await operationOf(dto({ a: list(nullable(list(int))) }), { method: 'get' });
      expect(parameters).toMatchObject([{ content: { 'application/json': { schema: { type: 'array' } } } }]);
    });

    it('a union of forms', async () => {
      const Dto = dto({ all: fromForm(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])) });
      const { requestBody } = await operationOf(Dto, { options: { allowFormData: true } });
      expect(requestBody?.content['multipart/form-data']?.schema).toMatchObject({ anyOf: [{}, {}] });
    });

    it('a nested dto whose properties do not bind from JSON', async () => {
      const { schemas } = await operationOf(dto({ both: Both }));
      expect(schemas).toMatchObject({ Both: { properties: { b: {} } } });
      expect(schemas['Both']).not.toHaveProperty('properties.a');
    });

    it('a class without a name that contains itself', async () => {
      const Nameless = (() => class extends dto({ children: optional(list(lazy((): AnyType => Nameless))) }) {})();
      const { schemas } = await operationOf(dto({ tree: Nameless }));
      expect(schemas).toMatchObject({
        Dto: { properties: { children: { items: { $ref: '#/components/schemas/Dto' } } } },
      });
    });

    it('a schema that refers to itself', async () => {
      const Tree = z.object({
        name: z.string(),
        get children() {
          return z.array(Tree);
        },
      });
      const { schemas } = await operationOf(dto({ tree: field(Tree) }));
      expect(schemas).toMatchObject({
        Schema: { properties: { children: { items: { $ref: '#/components/schemas/Schema' } } } },
      });
    });

    it('a schema that is checked later, and fails', async () => {
      const validate = (): Promise<never> => Promise.reject(new Error('down'));
      const type = { '~standard': { version: 1, vendor: 'own', validate } } as const;
      const operation = await operationOf(dto({ a: field(type) }), { jsonSchemaOf: () => ({ type: 'string' }) });
      expect(placesIn(operation)).toEqual(['application/json a']);
    });

    it('a default that JSON cannot hold: it is left out', async () => {
      const { requestBody } = await operationOf(dto({ a: field(string, { default: {} as string }) }));
      expect(requestBody?.content['application/json']?.schema).toEqual({
        type: 'object',
        properties: { a: { type: 'string' } },
      });
    });

    it('a default that is not used, because the value is required: it is left out', async () => {
      const { requestBody } = await operationOf(dto({ a: field(bool, { default: true, required: true }) }));
      expect(requestBody?.content['application/json']?.schema).toEqual({
        type: 'object',
        properties: { a: { type: 'boolean' } },
        required: ['a'],
      });
    });

    it('all endpoints of one route', () => {
      const app = express();
      const before = bindRequest(dto({ id: routeParam(int), h: fromHeader(string) })) as express.RequestHandler;
      app.post('/:id', before, bindRequest(dto({ a: int })));
      const { paths } = documentOf(app);
      expect(placesIn(paths['/{id}']?.['post'] as Operation)).toEqual(['path id', 'header h', 'application/json a']);
    });
  });

  describe('tells the truth about the paths of', () => {
    const bound = bindRequest(dto({ q: optional(int) }));
    const named = bindRequest(dto({ q: optional(int) }), { openapi: { operationId: 'x' } });
    const hidden = bindRequest(dto({ q: optional(int) }), { openapi: { hidden: true } });
    const guard = idempotency();
    const ends = (_req: unknown, res: express.Response): void => void res.json(null);
    const router = (options = {}): express.Router => express.Router(options);
    const old = expressVersions[1]?.[1] ?? express;
    const named4 = old.Router().post('/', bound);
    const mounts5: Record<string, express.Router> = {};
    const named5 = router().post('/', bound, ends);

    it.each<[string, (app: express.Express) => unknown, string[], typeof express?, OpenApiOptions['mounts']?]>([
      ['braces in a path', app => app.get('/a\\{b\\}', bound), ['get /a%7Bb%7D']],
      ['braces in a path of Express 4', app => app.get('/{b}', bound), ['get /%7Bb%7D'], old],
      ['a quoted name', app => app.get('/:"a/b}"', bound), ['get /{a_b_} a_b_']],
      [
        'one path under two names',
        app => app.get('/:id', bound).post('/:order', bindRequest(dto({ order: routeParam(int) }))),
        ['get /{id} id', 'post /{id} id'],
      ],
      ['two spellings, of which the first is run', app => app.get('/A', bound, ends).get('/a', bound), ['get /A']],
      ['two spellings that are run together', app => app.post('/A', guard).post('/a', bound, ends), ['post /a key']],
      [
        'routes behind one whose path fits',
        app => app.all('/a/*rest', guard).post('/a/b/:id', bound, ends).post('/b', bound, ends),
        [
          ...['get', 'put', 'post', 'delete', 'patch'].map(method => `${method} /a/{rest} rest key`),
          'post /a/b/{id} id key',
          'post /b',
        ],
      ],
      [
        'a route behind a key in another router',
        app => app.use('/a', router().use(guard)).post('/a/b', bound),
        ['post /a/b key'],
      ],
      [
        'a key in a router, behind its routes',
        app => app.use(['/a', '/b'], router().get('/x', bound, ends).use(guard).get('/y', bound, ends)),
        ['get /a/x', 'get /a/y key', 'get /b/x', 'get /b/y key'],
      ],
      [
        'a key below a name twice',
        app => app.use('/:id', router().use('/:id/a', guard).post('/:id/a', bound)),
        ['post /{id2}/{id}/a id2 id key'],
      ],
      [
        'a route behind one that takes no `next`',
        app => app.post('/a', guard, ends).post('/a', bindRequest(dto({ h: fromHeader(string) })), ends),
        ['post /a key'],
      ],
      ['a hidden route behind a key', app => app.post('/a', guard).post('/a', hidden, ends), []],
      ['a slash at the end, which is no part of it', app => app.get('/a/', bound, ends).get('/a', bound), ['get /a']],
      [
        'a slash at the end of a strict router',
        app => app.use('/s', router({ strict: true }).get('/a/', bound).get('/a', bound).get('/', bound)),
        ['get /s/a/', 'get /s/a', 'get /s'],
      ],
      [
        'a slash at the end in a strict application',
        app => app.set('strict routing', true).get('/a/', bound).get('/', bound),
        ['get /a/', 'get /'],
      ],
      [
        'a slash at the end in a strict application of Express 4',
        app => app.set('strict routing', true).get('/a/', bound).get('/', bound),
        ['get /a/', 'get /'],
        old,
      ],
      [
        'a wildcard alone, in Express 4',
        app => app.get('*', bound).use('/b', old.Router().get('*', bound)),
        ['get /{0} 0', 'get /b/{0} 0'],
        old,
      ],
      [
        'a router that tells them apart',
        app => app.use(router({ caseSensitive: true }).get('/A', bound).get('/a', bound)),
        ['get /A', 'get /a'],
      ],
      [
        'a router that does not see the parameters before it',
        app => app.use('/:a', router().get('/:b', bindRequest(dto({ a: optional(int), b: int })))),
        ['get /{a}/{b} a? b a'],
      ],
      [
        'a name twice',
        app => app.use('/:id', router({ mergeParams: true }).get('/:id', bound)),
        ['get /{id2}/{id} id2 id'],
      ],
      [
        'a router in itself',
        app => app.use(((one: express.Router) => one.get('/a', bound).use('/b', one))(router())),
        ['get /a'],
      ],
      ['a key on a pattern', app => app.use('/a/:x', guard).post('/a/:y/b', bound), ['post /a/{y}/b y key']],
      ['a key on a wildcard', app => app.use('/a/*rest', guard).post('/A/b', bound), ['post /A/b key']],
      ['a key on a regular expression', app => app.use(/^\/a/, guard).post('/a/b', bound), ['post /a/b key']],
      [
        'a key on another path',
        app => app.use('/a/c', guard).post('/a/b', bound).post('/a/:x', bound),
        ['post /a/b', 'post /a/{x} x'],
      ],
      ['a key on several paths', app => app.use(['/a', '/b'], guard).post('/b', bound), ['post /b key'], old],
      [
        'a key on a parameter of digits',
        app => app.use('/:id(\\d+)', guard).post('/:id(\\d+)/a', bound),
        ['post /{id}/a id key'],
        old,
      ],
      [
        'a router behind digits that may be missing',
        app => app.use('/m/:o(\\d+)?', old.Router().get('/x', bound)),
        ['get /m/x', 'get /m/{o}/x o'],
        old,
      ],
      ['a pattern in a pattern', app => app.get('/:id((a|b)c)', bound), ['get /{id} id'], old],
      ['an optional part with a dot', app => app.get('/:a.:b?', bound), ['get /{a} a', 'get /{a}.{b} a b'], old],
      [
        'parts of a regular expression',
        app => app.get('/a(bc)?', bound).get('/ab+', bound).get('/a?b', bound),
        [],
        old,
      ],
      [
        'a mount with parts of one',
        app => app.use('/a(bc)?', router().get('/x', bound)).use('/:a-:b', router().get('/x', bound)),
        [],
        old,
      ],
      [
        'names that others have by default',
        app =>
          app.get('/x', bound).get('/y', bindRequest(dto({ q: optional(int) }), { openapi: { operationId: 'getX' } })),
        ['get /x as getX2', 'get /y as getX'],
      ],
      [
        'a router at paths that Express 4 does not tell',
        app => app.use('/a(bc)?', named4).use('/e', named4),
        ['post /a', 'post /abc', 'post /e'],
        old,
        { '/a': named4, '/abc': named4 },
      ],
      [
        'a router in a router, at paths that Express 5.0 to 5.2 do not keep',
        app => {
          const outer = router().use('/d', named5).use('/d/e', guard, named5);
          app.use('/c', outer);
          for (const { stack } of [app.router, outer])
            for (const layer of stack) delete (layer as { rawPath?: unknown }).rawPath;
          Object.assign(mounts5, { '/c': outer, '/c/d': named5, '/d/e': named5 });
        },
        ['post /c/d', 'post /c/d/e key'],
        express,
        mounts5,
      ],
      [
        'a router at several paths in Express 4',
        app => app.use(['/c', '/d/:x', '/e'], named4),
        ['post /c', 'post /d/{x} x', 'post /e'],
        old,
      ],
      [
        'a router at paths that Express 5.0 to 5.2 do not keep',
        app => {
          app.use(['/c', '/d'], named5).use('/e', guard, named5);
          for (const layer of app.router.stack) delete (layer as { rawPath?: unknown }).rawPath;
        },
        ['post /c', 'post /d', 'post /e key'],
        express,
        { '/c': named5, '/d': named5, '/e': named5 },
      ],
      [
        'two parts that may be missing, of which the first is filled first',
        app => app.get('{/:a}{/:b}', bound, ends),
        ['get /', 'get /{a} a', 'get /{a}/{b} a b'],
      ],
      [
        'the same in Express 4',
        app => app.get('/:a?/:b?', bound, ends),
        ['get /', 'get /{a} a', 'get /{a}/{b} a b'],
        old,
      ],
      ['one endpoint at two paths', app => app.get(['/a', '/b'], named), ['get /a as x', 'get /b as x2']],
    ])('%s', (_what, mount, expected, version = express, mounts = {}) => {
      const app = version();
      mount(app);
      const found = Object.entries(documentOf(app, { mounts }).paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, operation]) => {
          const { parameters = [], operationId } = operation as Operation;
          const others = parameters
            .filter(({ name }) => name !== 'q')
            .map(({ name, required }) => (name === 'Idempotency-Key' ? 'key' : `${name}${required ? '' : '?'}`));
          const id = /^(x|x2|getX|getX2)$/.test(operationId) ? [`as ${operationId}`] : [];
          return [method, path, ...others, ...id].join(' ');
        }),
      );
      expect(found).toEqual(expected);
    });

    it.each<[string, string[]]>([
      ['/a/:x?', ['/a', '/a/{x}']],
      ['/a.:x?', ['/a', '/a.{x}']],
      ['/a-:x?', ['/a-', '/a-{x}']],
      ['/a/:x(\\d+)?/b', ['/a/b', '/a/{x}/b']],
      ['/a/*/b/:x?', ['/a/{0}/b', '/a/{0}/b/{x}']],
      ['/a/:x*', ['/a/{x}']],
      ['/a/:x*?', ['/a', '/a/{x}']],
      ['/a/:x+', ['/a/{x}']],
    ])('%s in a strict application of Express 4: it answers each of them', async (path, expected) => {
      const app = old().set('strict routing', true).get(path, bound, ends) as express.Express;
      const paths = Object.keys(documentOf(app).paths);
      expect(paths).toEqual(expected);
      for (const described of paths)
        expect((await ask(app, { method: 'GET', path: described.replace(/\{\w+\}/g, '7') })).status).toBe(200);
    });

    it.each([
      ['Express 5', express],
      ['Express 4', old],
    ])('an application that is mounted behind idempotency(), under %s', (_version, version) => {
      const [app, admin, users] = [version(), version(), version()];
      users.post('/', bound);
      admin.use('/users', users);
      app.use(guard).use('/admin', admin);
      const { paths } = documentOf(app, { mounts: { '/admin': admin, '/admin/users': users } });
      expect(paths).toMatchObject({
        '/admin/users': { post: { parameters: [{ name: 'Idempotency-Key' }] } },
      });
    });
  });

  it.each<[string, () => unknown, string]>([
    [
      'something that is not an application',
      () => openapi({}, { info }),
      'openapi: the first argument must be an Express application or router, not object.',
    ],
    [
      'a mount that is not a router',
      () => openapi(express(), { info, mounts: { '/a': null as never } }),
      'openapi: /a must be an Express application or router (option `mounts`), not object.',
    ],
    [
      'a schema that JSON Schema cannot say',
      () => openapi(express().post('/', bindRequest(dto({ a: field(z.date()) }))), { info }),
      'cannot be written as JSON Schema (Date cannot be represented in JSON Schema). Pass jsonSchemaOf',
    ],
    [
      'two endpoints of one name',
      () => {
        const app = express();
        for (const path of ['/a', '/b']) app.get(path, bindRequest(dto({ a: int }), { openapi: { operationId: 'x' } }));
        return openapi(app, { info });
      },
      'openapi: GET /a and GET /b have the same operationId, "x". Give each endpoint one of its own, or none.',
    ],
    [
      'no options',
      () => openapi(express(), undefined as unknown as OpenApiOptions),
      "openapi: the options are missing. Write openapi(app, { info: { title: 'Orders', version: '1.0.0' } }).",
    ],
    [
      'no info',
      () => openapi(express(), {} as OpenApiOptions),
      "openapi: the option info is missing. Write openapi(app, { info: { title: 'Orders', version: '1.0.0' } }).",
    ],
    [
      'info without a version',
      () => openapi(express(), { info: { title: 'Orders' } } as OpenApiOptions),
      'openapi: info must be { title, version }, not an object with title. Write openapi(app, { info: {',
    ],
    [
      'another name for info',
      () => openapi(express(), { inf: info } as unknown as OpenApiOptions),
      'openapi: there is no option "inf"; did you mean "info"? Write openapi(app, { info: {',
    ],
    [
      'the application after its options',
      () => openapi({ info }, express() as unknown as OpenApiOptions),
      'openapi: options must be an object, not a function. Write openapi(app, { info: {',
    ],
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
