import { z } from 'zod';
import {
  dto,
  field,
  file,
  formField,
  fromBody,
  fromCookie,
  fromHeader,
  fromQuery,
  int,
  lazy,
  list,
  nullable,
  optional,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type ParseResult,
} from '../../lib';
import { operationOf, placesIn } from '../support/described';
import { bind } from '../support/one-endpoint';

class Line extends dto({ sku: string }) {}
const allowFormData = { urlEncoded: true } as const;

it('JSON that may be missing, beside a form that must be sent, is no body', async () => {
  const Dto = dto({ a: fromBody(optional(Line)), b: formField(int) });
  const operation = await operationOf(Dto, { options: { allowFormData } });
  expect(placesIn(operation)).toEqual(['multipart/form-data b', 'application/x-www-form-urlencoded b']);
  expect(operation.requestBody?.required).toBe(true);
  const sent = [{ form: 'b=2' }, { json: { sku: 'tea' } }, {}];
  const answers = await Promise.all(sent.map(one => bind(Dto, one, { allowFormData })));
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400]);
});

it.each<[string, AnyType, boolean]>([
  ['a header that the path may replace', dto({ v: fromHeader(int, { name: 'X-V', required: false }) }), true],
  ['the same, by another name', dto({ w: fromHeader(int, { name: 'X-V', required: false, bindFrom: 'V' }) }), true],
  ['a header that is not described', dto({ v: fromHeader(int, { name: 'Authorization', required: false }) }), true],
  ['a cookie that the path may replace', dto({ v: fromCookie(int, { required: false }) }), true],
  ['a header without fallback', dto({ v: fromHeader(int, { name: 'X-V', required: false, fallback: false }) }), false],
  ['a header that may be missing', dto({ v: fromHeader(optional(int), { name: 'X-V' }) }), false],
])('a path that names %s is described as the endpoint reads it', async (_what, Dto, isRead) => {
  const { parameters = [] } = await operationOf(Dto, { path: '/x/:v' });
  expect(parameters.filter(one => one.in === 'path')).toEqual([
    {
      name: 'v',
      in: 'path',
      required: true,
      schema: isRead ? { type: 'integer', format: 'int32' } : { type: 'string' },
    },
  ]);
  const route = '/x/:v';
  expect((await bind(Dto, { path: '/x/7' }, { route })).status).toBe(200);
  expect((await bind(Dto, { path: '/x/nope' }, { route })).status).toBe(isRead ? 400 : 200);
});

/** Returns the description of the value `v`. */
async function described(Dto: AnyType): Promise<unknown> {
  const { parameters = [], requestBody } = await operationOf(Dto, { options: { allowFormData } });
  const content = Object.values(requestBody?.content ?? {}) as { schema: { properties: Record<string, unknown> } }[];
  return parameters[0]?.schema ?? parameters[0]?.content ?? content[0]?.schema.properties['v'];
}

it.each<[string, AnyType, number]>([
  ['a query', dto({ v: queryParam(list(string)) }), 1],
  ['a form', dto({ v: formField(list(int)) }), 1],
  ['files', dto({ v: list(file) }), 1],
  ['a schema', dto({ v: queryParam(z.array(z.string())) }), 1],
  ['a schema with a bound of its own', dto({ v: queryParam(z.array(z.string()).min(2)) }), 2],
])('a required list of %s has at least one item, because none is sent as nothing', async (_what, Dto, minItems) => {
  expect(await described(Dto)).toMatchObject({ type: 'array', minItems });
  expect((await bind(Dto, { form: '' }, { allowFormData })).status).toBe(400);
});

it.each<[string, AnyType]>([
  ['that is JSON', dto({ v: field(list(string)) })],
  ['that may be missing', dto({ v: queryParam(optional(list(string))) })],
  ['that has a default', dto({ v: queryParam(list(string), { default: [] }) })],
  ['of objects, whose JSON can be empty', dto({ v: queryParam(list(Line)) })],
  ['of a schema with a default', dto({ v: queryParam(z.array(z.string()).default([])) })],
  ['below fromQuery', dto({ all: fromQuery(dto({ v: list(string) })) })],
])('a list %s can be empty', async (_what, Dto) => {
  expect(JSON.stringify(await described(Dto))).not.toContain('minItems');
});

describe('a class with tryParse and declared properties is described as text outside of JSON', () => {
  class Price extends dto({ amount: int }) {
    static tryParse(text: string | undefined): ParseResult<Price> {
      return text === '7' ? { success: true, value: Object.assign(new Price(), { amount: 7 }) } : { success: false };
    }
  }
  const price = Object.assign(new Price(), { amount: 7 });
  const text = { type: 'string', title: 'Price' };

  it.each<[string, AnyType, object]>([
    ['a query', dto({ v: queryParam(Price) }), text],
    ['a query, with a default, which is no text', dto({ v: queryParam(Price, { default: () => price }) }), text],
    ['a header', dto({ v: fromHeader(Price) }), text],
    ['a form', dto({ v: formField(Price) }), text],
    ['a list', dto({ v: queryParam(optional(list(Price))) }), { type: 'array', items: text }],
    ['below fromQuery', dto({ all: fromQuery(dto({ v: Price })) }), text],
  ])('in %s', async (_where, Dto, schema) => {
    expect(await described(Dto)).toEqual(schema);
  });
});

const A = z.object({ t: z.literal('a'), x: z.string() });
const B = z.object({ t: z.literal('b'), y: z.string() });
const union = z.discriminatedUnion('t', [A, B]);
const b = { t: 'b', y: 'q' };

describe.each<[string, AnyType, unknown]>([
  ['a union', z.union([A, B]), b],
  ['a discriminated union', union, b],
  ['a discriminated union that may be null', union.nullable(), b],
  ['a discriminated union that is nullable', nullable(union), b],
  ['a list of a discriminated union', list(union), [b, b]],
])('%s of objects is one value, sent as JSON', (_what, type, value) => {
  const text = JSON.stringify(value);
  const encoded = encodeURIComponent(text);

  it('in a path, a query and a header', async () => {
    class Dto extends dto({ p: routeParam(type), q: queryParam(type), h: fromHeader(type, { name: 'X-H' }) }) {}
    const { parameters = [] } = await operationOf(Dto, { method: 'get', path: '/:p' });
    const json = { schema: { type: 'string', contentMediaType: 'application/json', contentSchema: expect.anything() } };
    expect(parameters).toMatchObject([json, json, json]);
    const { dto: bound } = await bind(
      Dto,
      { method: 'GET', path: `/${encoded}?q=${encoded}`, headers: { 'X-H': text } },
      { route: '/:p' },
    );
    expect(bound).toEqual({ p: value, q: value, h: value });
  });

  it('in a form', async () => {
    class Dto extends dto({ v: formField(type) }) {}
    const options = { allowFormData: true } as const;
    const { requestBody } = await operationOf(Dto, { options });
    expect(requestBody?.content['multipart/form-data']?.encoding).toEqual({ v: { contentType: 'application/json' } });
    expect((await bind(Dto, { multipart: [['v', text]] }, options)).dto).toEqual({ v: value });
  });
});

it.each<[string, AnyType, object]>([
  ['a nullable type', nullable(lazy(() => nullable(string))), { type: 'string' }],
  ['a list of them', nullable(list(nullable(string))), { type: 'array', items: { type: 'string' } }],
])('null is no text of %s', async (_what, type, schema) => {
  const { parameters = [] } = await operationOf(dto({ v: queryParam(type, { default: () => null as never }) }));
  expect(parameters[0]?.schema).toMatchObject(schema);
  expect(JSON.stringify(parameters)).not.toContain('null');
});

it('a list of lists of files is one name of a form: each file is a list of its own', async () => {
  const { requestBody } = await operationOf(dto({ files: list(list(file)) }), { options: { allowFormData: true } });
  expect(requestBody?.content['multipart/form-data']?.schema).toMatchObject({
    properties: { files: { type: 'array', items: { type: 'string', format: 'binary' } } },
  });
});
