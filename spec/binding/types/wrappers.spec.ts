import {
  dto,
  field,
  fromClaim,
  fromForm,
  fromHeader,
  int,
  list,
  nullable,
  optional,
  type AnyType,
  type DtoClass,
  bindRequest,
  fromBody,
  string,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';
import express from 'express';
import { ask, problemIn } from '../../support/ask';

class Point extends dto({ x: int }) {}
const having = (type: AnyType): DtoClass<{ v: unknown }> =>
  class extends dto({ v: field(type) }) {} as DtoClass<{ v: unknown }>;
const nested = (type: AnyType, options = {}): DtoClass<{ in: { v: unknown } }> => {
  class Inner extends dto({ v: field(type, options) }) {}
  return class extends dto({ in: Inner }) {} as DtoClass<{ in: { v: unknown } }>;
};

describe('null as the text of an object that may be null', () => {
  class Sent extends dto({ v: optional(nullable(Point)), all: optional(list(nullable(Point))) }) {}
  const json = (text: string): File => new File([text], 'blob', { type: 'application/json' });

  it('is null in a query, a header and a claim', async () => {
    class Head extends dto({ v: fromHeader(nullable(Point)) }) {}
    class Caller extends dto({ v: fromClaim(nullable(Point)) }) {}
    expect((await bind(Sent, { path: '/?v=null&all={"x":1}&all=null' })).dto).toEqual({
      v: null,
      all: [{ x: 1 }, null],
    });
    expect((await bind(Sent, { path: '/?all=null' })).dto).toEqual({ all: [null] });
    expect((await bind(Head, { headers: { v: 'null' } })).dto).toEqual({ v: null });
    expect((await bind(Caller, {}, { user: { v: 'null' } })).dto).toEqual({ v: null });
  });

  it.each([
    ['a dto', Sent, (bound: object) => bound],
    ['a whole form', dto({ form: fromForm(Sent) }), (bound: object) => ({ form: bound })],
  ])('is null in the fields and the files of JSON of a form: %s', async (_what, Dto, placed) => {
    const read = async (...multipart: readonly (readonly [name: string, value: string | File])[]) =>
      (await bind<AnyType>(Dto, { multipart }, { allowFormData: true })).dto;
    const expected = placed({ v: null, all: [{ x: 1 }, null] });
    expect(await read(['v', 'null'], ['all', '{"x":1}'], ['all', ' null\n'])).toEqual(expected);
    expect(await read(['v', json('null')], ['all', json('{"x":1}')], ['all', json('null')])).toEqual(expected);
  });
});

describe('a type that is not optional', () => {
  it('null in JSON is a failure', async () => {
    expect((await bind(having(int), { json: { v: null } })).errors).toEqual([
      {
        name: 'v',
        in: 'json',
        pointer: '/v',
        detail: 'The value null is not a whole number from -2147483648 to 2147483647.',
      },
    ]);
  });

  it('with required: false, null in JSON is a missing value, at the root and in a nested dto', async () => {
    class Root extends dto({ v: field(int, { required: false }) }) {}
    expect((await bind(nested(int, { required: false }), { json: { in: { v: null } } })).dto).toEqual({ in: {} });
    expect((await bind(Root, { json: { v: null } })).dto).toEqual({});
  });
});

describe('nullable', () => {
  it.each([
    ['required', {}],
    ['not required', { required: false }],
    ['with a default', { default: 5 }],
  ])('null in JSON is null, %s, at the root and in a nested dto', async (_name, options) => {
    class Root extends dto({ v: field(nullable(int), options) }) {}
    expect((await bind(Root, { json: { v: null } })).dto).toEqual({ v: null });
    expect((await bind(nested(nullable(int), options), { json: { in: { v: null } } })).dto).toEqual({
      in: { v: null },
    });
  });

  it.each<[string, AnyType]>([
    ['nullable(optional(int))', nullable(optional(int))],
    ['optional(nullable(int))', optional(nullable(int))],
  ])('%s may be missing, and null is null', async (_name, type) => {
    expect(await bind(having(type), { json: {} })).toMatchObject({ status: 200, dto: {} });
    expect((await bind(having(type), { json: { v: null } })).dto).toEqual({ v: null });
    expect((await bind(nested(type), { json: { in: {} } })).dto).toEqual({ in: {} });
    expect((await bind(nested(type), { json: { in: { v: null } } })).dto).toEqual({ in: { v: null } });
    expect((await bind(having(type), { json: { v: 'x' } })).status).toBe(400);
  });
});

const refusing = { null: 'refuse' } as const;
const Patch = dto({
  title: optional(string, refusing),
  tags: field(optional(list(int), refusing)),
  note: optional(string),
});

it.each<[string, AnyType, unknown, unknown]>([
  [
    'null is refused',
    Patch,
    { title: null, tags: null, note: null },
    ['The value null is not a string.', 'The value null is not a JSON array.'],
  ],
  ['what is missing is missing', Patch, {}, {}],
  ['in a nested dto', dto({ patch: Patch }), { patch: { title: null } }, ['The value null is not a string.']],
  ['of a whole body', optional(list(int), refusing), 'null', ['The value null is not a JSON array.']],
  [
    'of a property that takes the body',
    dto({ ids: fromBody(optional(list(int), refusing)) }),
    'null',
    ['The value null is not a JSON array.'],
  ],
  ['a nullable value may be null', dto({ a: optional(nullable(int), refusing) }), { a: null }, { a: null }],
])('optional(type, { null: "refuse" }): %s', async (_case, Dto, json, expected) => {
  const app = express();
  app.post('/', bindRequest(Dto), (req, res) => {
    res.json(req.dto);
  });
  const response = await ask(app, { json });
  const errors = problemIn(response)?.errors;
  expect(errors?.map(({ detail }) => detail) ?? (JSON.parse(response.text) as object)).toEqual(expected);
});

it('another option is an error', () => {
  expect(() => optional(int, { null: 'accept' as 'refuse' })).toThrow('optional: null must be "refuse"');
});
