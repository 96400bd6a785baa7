import express from 'express';
import {
  bindRequest,
  dto,
  field,
  file,
  formField,
  fromBody,
  hasPermission,
  int,
  list,
  openapi,
  optional,
  plainText,
  routeParam,
  string,
  type AnyType,
  type BindingOptions,
} from '../../lib';
import { documentOf, info, type Operation } from '../support/described';
import { serve } from '../support/serve';

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
      [dto({ a: field(string) })],
      { 'application/json': { schema: { properties: { a: { allOf: [{ type: 'integer' }, { type: 'string' }] } } } } },
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
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['201', '202', '401', '403']));
  expect(responses['201']?.content).toMatchObject({ 'application/json': { schema: { type: 'array' } } });
  expect(security).toEqual([{ caller: [] }]);
});
