import express from 'express';
import { z } from 'zod';
import {
  bindRequest,
  bool,
  decimal,
  double,
  dto,
  enumOf,
  field,
  file,
  formField,
  fromBody,
  guid,
  hasPermission,
  int,
  lazy,
  list,
  long,
  nullable,
  openapi,
  optional,
  plainText,
  routeParam,
  string,
  version,
  type AnyType,
  type BindingOptions,
} from '../../../lib';
import { ask } from '../../support/ask';
import { documentOf, info, type Operation } from '../../support/described';
import { serve } from '../../support/serve';

class Line extends dto({ sku: string }) {}
const multipart: BindingOptions = { allowFormData: true };
const forms: BindingOptions = { allowFormData: { urlEncoded: true } };

type Bound = readonly [Dto: AnyType, options?: BindingOptions];

/** An application with a route of two endpoints. */
function both(one: Bound, other: Bound, path = '/'): express.Express {
  const handlers = [one, other].map(([Dto, options]) => bindRequest(Dto, options) as express.RequestHandler);
  return express().post(path, ...handlers, (_req, res) => void res.json(null));
}

function describedBy(app: express.Express): Operation {
  const [operations] = Object.values(documentOf(app).paths);
  return operations?.['post'] as Operation;
}

describe('the body of a route with two bindRequest()', () => {
  it.each<[string, Bound, Bound, object]>([
    [
      'is one object with the properties of both',
      [dto({ a: int, b: optional(int) })],
      [dto({ b: int, c: string })],
      {
        'application/json': {
          schema: { properties: { a: {}, b: {}, c: {} }, required: ['a', 'b', 'c'] },
        },
      },
    ],
    [
      'has a property as both allow it',
      [dto({ a: int })],
      [dto({ a: field(double) })],
      { 'application/json': { schema: { properties: { a: { allOf: [{ type: 'integer' }, { type: 'number' }] } } } } },
    ],
    [
      'has a property that is null, if that is all that both allow',
      [dto({ a: nullable(z.literal('a')) })],
      [dto({ a: nullable(bool) })],
      { 'application/json': { schema: { required: ['a'] } } },
    ],
    [
      'is a form, in which a text is a number, too, where JSON cannot be both',
      [dto({ a: int }), multipart],
      [dto({ a: field(string) }), multipart],
      { 'multipart/form-data': { schema: { properties: { a: { type: 'integer' } } } } },
    ],
    [
      'has a field of a form that is read as an integer and as text',
      [dto({ a: formField(int), b: formField(string, { bindFrom: 'A' }) }), multipart],
      [dto({ a: formField(string) }), multipart],
      { 'multipart/form-data': { schema: { properties: { a: { type: 'integer' } } } } },
    ],
    [
      'fits a whole body and an object',
      [dto({ body: fromBody(Line) })],
      [dto({ a: int })],
      {
        'application/json': {
          schema: { allOf: [{ $ref: '#/components/schemas/Line' }, { type: 'object', properties: { a: {} } }] },
        },
      },
    ],
    [
      'is of a type that both take',
      [dto({ a: int }), forms],
      [dto({ b: list(Line) }), multipart],
      {
        'application/json': { schema: { required: ['a', 'b'] } },
        'multipart/form-data': {
          schema: { required: ['a', 'b'] },
          encoding: { b: { contentType: 'application/json' } },
        },
      },
    ],
    [
      'is what one of them takes, if the other takes any text',
      [dto({ text: plainText() })],
      [dto({ a: int })],
      { 'application/json': { schema: { required: ['a'] } } },
    ],
    [
      'is what one of them takes, if the other takes none',
      [dto({ h: hasPermission('x') })],
      [dto({ f: file }), multipart],
      { 'multipart/form-data': { schema: { required: ['f'] } } },
    ],
    [
      'is JSON, if one of them has its field in the path, which could be in JSON',
      [dto({ id: field(int) })],
      [dto({ a: int }), forms],
      { 'application/json': { schema: { required: ['a'] } } },
    ],
    [
      'has the examples of both',
      [dto({ a: int }), { openapi: { examples: { one: { value: { a: 1 } } } } }],
      [dto({ b: optional(int) }), { openapi: { examples: { two: { value: { a: 2 } } } } }],
      { 'application/json': { examples: { one: {}, two: {} } } },
    ],
  ])('%s', (_what, one, other, content) => {
    const { requestBody } = describedBy(both(one, other, '/:id'));
    expect(requestBody).toMatchObject({ required: true, content });
    expect(Object.keys(requestBody?.content ?? {})).toEqual(Object.keys(content));
  });

  it.each<[string, Bound, Bound, string]>([
    [
      'JSON and a form',
      [dto({ a: int })],
      [dto({ f: file }), multipart],
      'they take application/json, and multipart/form-data',
    ],
    [
      'a form, since JSON cannot hold its file, and JSON',
      [dto({ f: file, note: optional(string) }), multipart],
      [dto({ a: int })],
      'they take multipart/form-data, and application/json',
    ],
    [
      'a form and a field in the path, which could be in JSON',
      [dto({ id: field(int) })],
      [dto({ f: formField(string) }), multipart],
      'they take application/json, and multipart/form-data',
    ],
  ])('must be of one type: %s', async (_what, one, other, message) => {
    const app = both(one, other, '/:id');
    expect(() => openapi(app, { info })).toThrow(
      `openapi: POST /{id}: no request body fits all of its bindRequest() middlewares: ${message}.`,
    );
    // No such body is bound, indeed.
    const { url } = await serve(app);
    const body = new FormData();
    body.append('f', new Blob(['x']));
    expect((await fetch(`${url}/1`, { method: 'POST', body })).status).toBe(415);
  });

  class Count extends dto({ sku: int }) {}
  const Tree: AnyType = dto({ next: nullable(lazy((): AnyType => Tree)) });
  const OtherTree: AnyType = dto({ next: nullable(lazy((): AnyType => OtherTree)) });
  enum Level {
    Low = 1,
    High = 2,
  }
  enum Step {
    low = 'l',
    up = 'u',
  }

  it.each<[string, AnyType, AnyType, unknown, string]>([
    ['an integer and a text', dto({ a: int }), dto({ a: string }), { a: 1 }, 'property a is number'],
    ['a boolean and null', dto({ a: bool }), dto({ a: nullable(int) }), { a: null }, 'number or null to another'],
    ['a list and a number', dto({ a: list(int) }), dto({ a: decimal }), { a: [1] }, 'string or number to another'],
    ['an object and a text', dto({ a: Line }), dto({ a: string }), { a: {} }, 'property a is object'],
    [
      'a text and a number that may be missing',
      dto({ a: string }),
      dto({ a: optional(int) }),
      { a: 'x' },
      'property a',
    ],
    ['objects', dto({ a: Line }), dto({ a: Count }), { a: { sku: 'x' } }, 'property a.sku is string to one'],
    ['a whole body and a property', dto({ all: fromBody(Line) }), dto({ sku: int }), { sku: 'x' }, 'property sku'],
    ['a list and an object', list(int), dto({ a: int }), [1], 'the body is array to one, and object to another'],
    [
      'enumerations',
      dto({ a: enumOf(['a', 'b']) }),
      dto({ a: enumOf(['c']) }),
      { a: 'a' },
      'property a is "a" or "b" to one, and "c" to another',
    ],
    ['a number and an enumeration', dto({ a: int }), dto({ a: enumOf(['b']) }), { a: 1 }, 'and "b" to another'],
    ['a schema and a type', dto({ a: field(z.literal('x')) }), dto({ a: int }), { a: 1 }, 'property a is "x"'],
  ])('must have a value for each property: %s', async (_what, One, Other, body, message) => {
    const app = both([One], [Other]);
    expect(() => openapi(app, { info })).toThrow(
      /^openapi: POST \/: no request body fits all of its bindRequest\(\) middlewares: the /,
    );
    expect(() => openapi(app, { info })).toThrow(message);
    // Each of the two takes, or refuses, what the other does not.
    expect((await ask(app, { json: body })).status).toBe(400);
  });

  it.each<[string, AnyType, AnyType, unknown]>([
    ['an integer and a number', dto({ a: int }), dto({ a: double }), { a: 1 }],
    ['a number as text', dto({ a: long }), dto({ a: string }), { a: '1' }],
    ['null, which both take', dto({ a: nullable(int) }), dto({ a: nullable(string) }), { a: null }],
    ['null, which stands for nothing', dto({ a: nullable(int) }), dto({ a: optional(string) }), { a: null }],
    ['nothing', dto({ a: optional(int) }), dto({ a: optional(string) }), {}],
    ['a default', dto({ a: field(int, { default: 1 }) }), dto({ a: optional(string) }), {}],
    ['a member that is in both enumerations', dto({ a: enumOf(['a', 'B']) }), dto({ a: enumOf(['b']) }), { a: 'b' }],
    ['a name that is in both enumerations', dto({ a: enumOf(Level) }), dto({ a: enumOf(Step) }), { a: 'LOW' }],
    ['the name of a number', dto({ a: enumOf(Level) }), dto({ a: string }), { a: 'High' }],
    ['a number, which is a text', dto({ a: enumOf(['1']) }), dto({ a: int }), { a: 1 }],
    ['a member of a union', dto({ a: field(z.union([z.int(), z.string()])) }), dto({ a: string }), { a: 'x' }],
    ['an object that contains itself', dto({ a: Tree }), dto({ a: OtherTree }), { a: { next: null } }],
    ['a boolean of a schema', dto({ a: field(z.literal([true])) }), dto({ a: bool }), { a: true }],
    [
      'a property of a name that all objects have',
      dto({ constructor: int }),
      dto({ a: int }),
      { constructor: 1, a: 1 },
    ],
    ['any value', dto({ a: field(z.any()) }), dto({ a: int }), { a: 1 }],
    ['digits that are a guid and a long', dto({ a: guid }), dto({ a: long }), { a: `${'0'.repeat(31)}7` }],
    ['digits that are a guid and a decimal', dto({ a: guid }), dto({ a: decimal }), { a: '1'.repeat(32) }],
    ['a version that is a decimal', dto({ a: version }), dto({ a: decimal }), { a: '1.2' }],
    ['both parts of a schema', dto({ a: field(z.int().and(z.number())) }), dto({ a: int }), { a: 1 }],
  ])('may have a value for each property: %s', async (_what, One, Other, body) => {
    const app = both([One], [Other]);
    expect(Object.keys(describedBy(app).requestBody?.content ?? {})).toEqual(['application/json']);
    expect((await ask(app, { json: body })).status).toBe(200);
  });

  it('is compared in linear time, where classes refer to each other', () => {
    const chain = (): AnyType => {
      let type: AnyType = int;
      for (let depth = 0; depth < 40; depth++) type = dto({ left: type, right: type });
      return type;
    };
    expect(describedBy(both([chain()], [chain()])).requestBody).toBeDefined();
  });

  it('does not matter to an endpoint of the path alone', () => {
    const app = both([dto({ id: routeParam(int) })], [dto({ f: file }), multipart], '/:id');
    expect(Object.keys(describedBy(app).requestBody?.content ?? {})).toEqual(['multipart/form-data']);
  });
});

it('the refusals, responses and callers of the first bindRequest() count, too', () => {
  const first: Bound = [
    dto({ may: hasPermission('x') }),
    { allowAnonymous: false, responses: { 201: Line, 202: Line } },
  ];
  const { responses, security } = describedBy(both(first, [dto({ a: int }), { responses: { 201: list(Line) } }]));
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['201', '202', '400', '401']));
  expect(responses['201']?.content).toMatchObject({ 'application/json': { schema: { type: 'array' } } });
  expect(security).toEqual([{ caller: [] }]);
});
