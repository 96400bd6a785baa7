import type { RequestHandler } from 'express';
import multer, { type Multer } from 'multer';
import { z } from 'zod';
import {
  bindRequest,
  configure,
  dto,
  field,
  file,
  formField,
  fromBody,
  fromClaim,
  fromForm,
  fromHeader,
  hasPermission,
  idempotency,
  int,
  lazy,
  list,
  optional,
  plainText,
  problemDetails,
  queryParam,
  queryValue,
  routeParam,
  serializerContext,
  string,
  type AnyType,
  type BindingOptions,
  type ParseResult,
  type Property,
} from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Line extends dto({ sku: string }) {}
class NotADto {
  a = 1;
}

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it succeeds');
}

it.each<[string, () => AnyType, RegExp]>([
  [
    'two plainText',
    () => class Order extends dto({ one: plainText(), two: plainText() }) {},
    /Order\.one and Order\.two are both plainText/,
  ],
  [
    'fromBody and plainText',
    () => class Order extends dto({ one: fromBody(Line), two: plainText() }) {},
    /Order\.one is fromBody and Order\.two is plainText; the body can go to one property only/,
  ],
  ['a class without declared properties', () => NotADto, /NotADto has no declared properties/],
  ['a scalar', () => int, /int cannot be the dto of a request/],
  ['a file', () => file, /file cannot be the dto of a request/],
  ['files', () => list(file), /list of file cannot be the dto of a request/],
  ['nothing', () => undefined as unknown as AnyType, /undefined is not a type/],
  [
    'a nested dto with a claim, in a list',
    () => class Order extends dto({ lines: list(class Inner extends dto({ who: fromClaim(string) }) {}) }) {},
    /Inner\.who: fromClaim binds only at the root/,
  ],
  [
    'a property called __proto__',
    () => class Order extends dto({ ['__proto__']: string }) {},
    /cannot be named __proto__/,
  ],
  [
    'a permission without a name',
    () => class Order extends dto({ may: hasPermission('') }) {},
    /hasPermission takes the name of a permission/,
  ],
])('%s is refused when the middleware is made', (_what, declare, message) => {
  expect(() => bindRequest(declare())).toThrow(TypeError);
  expect(() => bindRequest(declare())).toThrow(message);
});

it.each<[string, () => AnyType]>([
  [
    'bindRequest: Order.a: B.at: Date has no declared properties',
    () => class Order extends dto({ a: class A extends dto({ b: class B extends dto({ at: Date }) {} }) {} }) {},
  ],
  [
    'bindRequest: Order.line: Inner.a and Inner.b have the same JSON name, "x".',
    () => {
      const x = field(int, { jsonPropertyName: 'x' });
      return class Order extends dto({ line: class Inner extends dto({ a: x, b: x }) {} }) {};
    },
  ],
  [
    'bindRequest: Order.rush: it contains a file (Photo.cover), and files come only from a form; declare it with fromForm.',
    () => class Order extends dto({ rush: fromBody(class Photo extends dto({ title: string, cover: file }) {}) }) {},
  ],
])('%s is named in one error, which says it once', (message, declare) => {
  const error = errorOf(() => bindRequest(declare()));
  expect(error.message).toContain(message);
  // The cause is the innermost error: a chain of causes would repeat the sentence.
  expect((error.cause as Error).cause).toBeUndefined();
});

it.each<[string, () => unknown]>([
  [
    'a declaration such as field(int) is not a type; write the type alone (int). In a dto, the kind goes outside: routeParam(optional(int)).',
    () => optional(routeParam(int) as unknown as AnyType),
  ],
  ['a declaration such as field(int) is not a type', () => field(queryParam(int) as unknown as AnyType)],
  ['call it: list(string)', () => field(list as unknown as AnyType)],
  ['the type for it is string', () => String],
  ['the type for it is int, double or decimal', () => Number],
  ['the type for it is dateTime', () => Date],
  ['An array (write list(int) for a collection of int) is not a type', () => [int]],
  [
    'An object (a dto is a class: class Address extends dto({ street: string }) {}) is not a type',
    () => ({ street: string }),
  ],
  [
    'The text "X-Tenant" (the type comes first, as in fromHeader(string, { name: \'X-Tenant\' })) is not a type',
    () => fromHeader('X-Tenant' as unknown as AnyType, string as object),
  ],
  [
    'lazy takes a function that returns the type, for example lazy(() => Node)',
    () => lazy(int as unknown as () => AnyType),
  ],
  [
    'lazy takes a function that returns the type: lazy(() => Node)',
    () => lazy(class Node extends dto({ a: int }) {} as unknown as () => AnyType),
  ],
  [
    'Line2: its constructor failed when called without arguments: ',
    () =>
      class Line2 extends dto({ a: int }) {
        constructor(given: { b: number }) {
          super();
          Object.assign(this, { b: given.b });
        }
      },
  ],
])('%s says what to write instead', (message, type) => {
  expect(() => bindRequest(class Order extends dto({ rush: type() as AnyType }) {})).toThrow(message);
});

it.each([Number.NaN, 5, null])('%s where bindRequest wants a type says that it is none', value => {
  expect(() => bindRequest(value as unknown as AnyType)).toThrow(
    `bindRequest: ${value} is not a type that values can be bound to. Use a type of bindonce (string, int, list(…))`,
  );
});

it.each<[string, unknown]>([
  ['Money.tryParse must return { success: true, value } or { success: false }, and has returned true', true],
  ['and has returned undefined', undefined],
  ['and has returned another object', { cents: 1 }],
])("a tryParse that returns %s is the application's mistake, and not the client's", async (message, result) => {
  class Money {
    static tryParse(): never {
      return result as never;
    }
  }
  const { status, response } = await bind(class Order extends dto({ price: Money }) {}, { json: { price: 'x' } });
  expect([status, response.text]).toEqual([500, expect.stringContaining(message)]);
});

class Price {
  static tryParse = (): ParseResult<Price> => ({ success: false });
}

it.each<[string, () => unknown]>([
  ['bindRequest takes the dto first, and then the options', () => bindRequest({} as AnyType, Line as BindingOptions)],
  ['problemDetails takes no options. Write app.use(problemDetails()).', () => problemDetails({} as never)],
  [
    'tenant: it is declared twice, with fromHeader and with queryParam; use one of them, with all options',
    () =>
      class {
        @queryParam(string) @fromHeader(string) tenant!: string;
      },
  ],
  [
    'field: the decorator of id got no context.metadata: ',
    // The context of esbuild 0.21.0 and of Babel's decorators of version 2023-01.
    () => field(int)(undefined, { kind: 'field', name: 'id' } as ClassFieldDecoratorContext<object, number>),
  ],
  [
    'has a Price, which has no form in JSON: add toString() or toJSON() to Price',
    () =>
      serializerContext({ responses: { 200: dto({ v: Price }) } }).write(200, { v: Object.create(Price.prototype) }),
  ],
])('%s', (message, make) => {
  expect(make).toThrow(message);
});

it.each<[string, AnyType]>([
  ['serializerContext: read() takes the text of the JSON, and was given an instance of Buffer.', Line],
  ['fromClaim binds only at the root of a request', list(dto({ sub: fromClaim(string) }))],
  ['plainText binds only at the root of a request', dto({ text: plainText() })],
])('%s: what a context cannot read', async (message, request) => {
  const given = request === Line ? Buffer.from('1') : '{"sku":"a"}';
  await expect(serializerContext({ request }).read(given as string)).rejects.toThrow(message);
});

const later = z.string().refine(() => Promise.resolve(true));

it.each<[string, RequestHandler]>([
  ['idempotency was passed to Express without being called. Mount what it returns:', idempotency as never],
  ['bindRequest was passed to Express without being called.', bindRequest as never],
  ['problemDetails was passed to Express without being called.', problemDetails as never],
  [
    'bindRequest: the binder returned undefined',
    bindRequest(Line, { binder: { bind: () => undefined as never } }) as never,
  ],
  ['queryValue: the type of "v" is read asynchronously; bind it', req => void queryValue(req, 'v', later)],
])('%s: answered with 500, which says so', async (message, mounted) => {
  const { status, response } = await bind(Line, { path: '/?v=a', json: { sku: 'a' } }, { before: [mounted] });
  expect([status, response.text]).toEqual([500, expect.stringContaining(message)]);
});

it('text that only a string can be is asked for as a string', async () => {
  const { errors } = await bind(dto({ price: Price }), { json: { price: 12 } });
  expect(errors.map(({ detail }) => detail)).toEqual(['The value 12 is not text that Price accepts; send a string.']);
});

describe('a required property that only a form can bring', () => {
  class Upload extends dto({ title: formField(string), page: queryParam(int) }) {}
  class Photo extends dto({ photo: file }) {}
  class Photos extends dto({ photos: field(list(file)) }) {}
  class Whole extends dto({ all: fromForm(Line) }) {}
  const message = (property: string, what: string): string =>
    `bindRequest: ${property}: it is required and binds only from a form, but the endpoint accepts no form; pass { ${what} }, or declare it with required: false.`;

  it.each<[AnyType, string, string]>([
    [Upload, 'Upload.title', 'allowFormData: true or { urlEncoded: true }'],
    [Photo, 'Photo.photo', 'allowFormData: true'],
    [Photos, 'Photos.photos', 'allowFormData: true'],
    [Whole, 'Whole.all', 'allowFormData: true or { urlEncoded: true }'],
  ])('is refused at an endpoint that accepts no form: %s', (Dto, property, what) => {
    expect(() => bindRequest(Dto)).toThrow(message(property, what));
    expect(() => configure().bindRequest(Dto, { allowFormData: false })).toThrow(message(property, what));
    for (const allowFormData of [true, { urlEncoded: true }] as const)
      expect(() => bindRequest(Dto, { allowFormData })).not.toThrow();
    expect(() => configure({ binding: { allowFormData: true } }).bindRequest(Dto)).not.toThrow();
  });
});

describe('options', () => {
  const make = (options: object) => () => bindRequest(Line, options as BindingOptions);

  it.each<[object, string]>([
    [{ allowFormdata: true }, 'bindRequest: there is no option "allowFormdata"; did you mean "allowFormData"?'],
    [{ allowFormData: 'yes' }, 'bindRequest: allowFormData must be true, false or { urlEncoded: true }, not "yes"'],
    [{ allowFormData: { urlEncoded: 1 } }, 'allowFormData must be true, false or { urlEncoded: true }, not an object'],
    [{ allowFormData: {} }, 'allowFormData must be'],
    [{ allowAnonymous: 'false' }, 'allowAnonymous must be true or false, not "false"'],
    [{ allowFormData: { urlencoded: true } }, 'true, false or { urlEncoded: true }, not an object with urlencoded'],
    [{ claims: {} }, 'claims must be a function, not an object'],
    [{ permissions: ['a', {}] }, 'permissions must be a function, not an array of "a", an object'],
    [{ permissions: [] }, 'permissions must be a function, not an empty array'],
    [{ limits: 5 }, 'limits must be an object, not 5'],
    [{ uploads: 'disk' }, 'uploads must be { storage, directory } or a Multer, not "disk"'],
    [{ uploads: { storage: 'cloud' } }, 'bindRequest: uploads: storage must be "memory" or "disk", not "cloud"'],
    [{ uploads: { storage: 'disk', dir: '/x' } }, 'there is no option "dir"'],
    [{ uploads: { directory: '/x' } }, "uploads.directory has an effect only with storage: 'disk'; add that."],
    [{ uploads: { directory: '' } }, 'directory must be a path, not ""'],
    [{ zzz: 1 }, 'there is no option "zzz"; there are: allowFormData, jsonTypes, allowAnonymous'],
  ])('%j is refused when the middleware is made', (options, message) => {
    expect(make(options)).toThrow(TypeError);
    expect(make(options)).toThrow(message);
  });
});

it.each([
  ['memory', multer.memoryStorage()],
  ['disk', multer.diskStorage({})],
])('a storage instead of a Multer is refused when the middleware is made: %s', (_where, storage) => {
  expect(() => bindRequest(Line, { uploads: storage as unknown as Multer })).toThrow(
    new TypeError('bindRequest: uploads must be a Multer; give multer({ storage }) instead of the storage.'),
  );
});

describe('options of a declaration are checked when the class is made', () => {
  const nobody = (options: unknown): object => options as object;

  it.each<[string, () => Property<unknown>]>([
    [
      'queryParam: there is no option "defualt"; did you mean "default"?',
      () => queryParam(int, nobody({ defualt: 1 })),
    ],
    ['queryParam: there is no option "name"; did you mean "bindFrom"?', () => queryParam(int, nobody({ name: 'n' }))],
    [
      'field: there is no option "jsonName"; did you mean "jsonPropertyName"?',
      () => field(int, nobody({ jsonName: 'n' })),
    ],
    [
      'routeParam: there is no option "optional"; did you mean "required"?',
      () => routeParam(int, nobody({ optional: true })),
    ],
    [
      'field: there is no option "zzz"; there are: bindFrom, jsonPropertyName, dontBind, required, jsonRequired, default',
      () => field(int, nobody({ zzz: 1 })),
    ],
    ['fromHeader: name must be an HTTP header name, not "X Tenant"', () => fromHeader(string, { name: 'X Tenant' })],
    ['fromClaim: name must be a name, not ""', () => fromClaim(string, { name: '' })],
    ['field: required must be true or false, not "no"', () => field(int, nobody({ required: 'no' }))],
    ['formField: bindFrom must be a name, not 5', () => formField(int, nobody({ bindFrom: 5 }))],
    ['field: dontBind must be an array of sources, not "query"', () => field(int, nobody({ dontBind: 'query' }))],
    [
      'routeParam: there is no option "dontBind"; there are: bindFrom, required, jsonRequired, default',
      () => routeParam(int, nobody({ dontBind: ['query'] })),
    ],
    [
      'hasPermission: there is no option "name"; there are: required',
      () => hasPermission('orders:read', nobody({ name: 'orders:write' })),
    ],
    ['hasPermission: there is no option "default"', () => hasPermission('orders:read', nobody({ default: true }))],
    ['field: options must be an object, not "optional"', () => field(int, 'optional' as unknown as object)],
  ])('%s', (message, declare) => {
    expect(() => dto({ fine: int, rush: declare() })).toThrow(`dto: property "rush": ${message}`);
    expect(() => {
      class Decorated {
        @declare() rush: unknown;
      }
      return Decorated;
    }).toThrow(`rush: ${message}`);
  });
});

it.each<[string, () => AnyType]>([
  [
    'bindRequest: responses[200]: it contains a file (Photo.cover), which a response cannot; ',
    () => class Photo extends dto({ title: string, cover: file }) {},
  ],
  [
    'responses[200]: it contains a file (Album.photos), which a response cannot',
    () => list(class Album extends dto({ photos: list(file) }) {}),
  ],
  ['responses[200]: it contains a file, which a response cannot', () => file],
])('%s in a response is refused when the middleware is made', (message, declare) => {
  expect(() => bindRequest(Line, { responses: { 200: declare() } })).toThrow(message);
});
