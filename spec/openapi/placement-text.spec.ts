import { z } from 'zod';
import {
  dto,
  formField,
  fromHeader,
  lazy,
  list,
  nullable,
  queryParam,
  routeParam,
  string,
  type AnyType,
} from '../../lib';
import { operationOf } from '../support/described';
import { bind } from '../support/one-endpoint';

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
  ['a union', z.union([z.string(), z.null()]), { type: 'string' }],
  ['a nullable type that is resolved later', nullable(lazy(() => nullable(string))), { type: 'string' }],
  [
    'a union with a member that may be null',
    z.union([z.string().nullable(), z.int()]),
    { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  ],
  ['a union of three', z.xor([z.literal('a'), z.literal('b'), z.null()]), { oneOf: [{ const: 'a' }, { const: 'b' }] }],
])('null is no text of %s', async (_what, type, schema) => {
  const { parameters = [] } = await operationOf(dto({ v: queryParam(type) }));
  expect(parameters[0]?.schema).toMatchObject(schema);
  expect(JSON.stringify(parameters)).not.toContain('null');
});
