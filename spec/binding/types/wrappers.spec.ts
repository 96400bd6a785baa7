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
  queryParam,
  string,
  type AnyType,
  type DtoClass,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Point extends dto({ x: int }) {}
const having = (type: AnyType): DtoClass<{ v: unknown }> =>
  class extends dto({ v: field(type) }) {} as DtoClass<{ v: unknown }>;
const nested = (type: AnyType, options = {}): DtoClass<{ in: { v: unknown } }> => {
  class Inner extends dto({ v: field(type, options) }) {}
  return class extends dto({ in: Inner }) {} as DtoClass<{ in: { v: unknown } }>;
};

describe('optional', () => {
  it.each<[string, AnyType]>([
    ['an int', int],
    ['a list', list(int)],
    ['a dto', Point],
    ['a string', string],
  ])('%s may be missing', async (_name, type) => {
    expect(await bind(having(optional(type)), { json: {} })).toMatchObject({ status: 200, dto: {} });
    expect((await bind(nested(optional(type)), { json: { in: {} } })).dto).toEqual({ in: {} });
  });

  it.each<[string, string, AnyType, unknown]>([
    ['an int', 'a missing value', int, undefined],
    ['a list of int', 'a missing value', list(int), undefined],
    ['a dto', 'a missing value', Point, undefined],
    ['a string', 'the empty string', string, ''],
  ])('empty text for %s is %s', async (_name, _meaning, type, value) => {
    const { status, dto: bound } = await bind(having(optional(type)), { method: 'GET', path: '/?v=' });
    expect([status, bound?.v]).toEqual([200, value]);
  });

  it('null in JSON is a missing value, in a nested dto too', async () => {
    expect((await bind(having(optional(int)), { json: { v: null } })).dto).toEqual({});
    expect((await bind(nested(optional(int)), { json: { in: { v: null } } })).dto).toEqual({ in: {} });
  });

  it('a value that is there must be valid', async () => {
    expect((await bind(having(optional(int)), { json: { v: 'x' } })).errors).toMatchObject([
      { name: 'v', pointer: '/v' },
    ]);
    expect((await bind(having(optional(int)), { method: 'GET', path: '/?v=x' })).errors).toMatchObject([
      { name: 'v', in: 'query' },
    ]);
  });
});

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

  it('is refused where null is, and so are several values', async () => {
    expect((await bind(dto({ v: queryParam(Point) }), { path: '/?v=null' })).status).toBe(400);
    expect((await bind(dto({ v: queryParam(nullable(Point)) }), { path: '/?v=null&v=null' })).status).toBe(400);
  });

  it('is text for a string that may be null', async () => {
    expect((await bind(having(nullable(string)), { path: '/?v=null' })).dto).toEqual({ v: 'null' });
  });
});

describe('a type that is not optional', () => {
  it.each<[string, AnyType]>([
    ['int', int],
    ['list of int', list(int)],
    ['dto', Point],
  ])('empty text for %s is a failure', async (_name, type) => {
    expect((await bind(having(type), { method: 'GET', path: '/?v=' })).errors).toMatchObject([
      { name: 'v', in: 'query' },
    ]);
  });

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

  it('a missing value is still missing', async () => {
    expect((await bind(having(nullable(int)), { json: {} })).errors).toMatchObject([
      { name: 'v', detail: 'A value is required.' },
    ]);
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

  it('text is read as without nullable(); the word null is not null', async () => {
    class Text extends dto({ v: queryParam(nullable(int)) }) {}
    expect((await bind(Text, { method: 'GET', path: '/?v=7' })).dto).toEqual({ v: 7 });
    expect((await bind(Text, { method: 'GET', path: '/?v=null' })).status).toBe(400);
  });
});
