import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import multer, { type Multer } from 'multer';
import {
  bindRequest,
  bool,
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
  RequestBinder,
  routeParam,
  serializerContext,
  string,
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type Property,
  type Source,
} from '../../../lib';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Line extends dto({ sku: string }) {}
class Named extends dto({ sku: string }) {}
class NotADto {
  a = 1;
}

function fail(): never {
  throw new RangeError('not today');
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
    'two fromBody',
    () => class Order extends dto({ one: fromBody(Line), two: fromBody(Line) }) {},
    /Order\.one and Order\.two are both fromBody/,
  ],
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
  ['a list of something that is no type', () => list(undefined as unknown as AnyType), /undefined is not a type/],
  [
    'a nested dto with a query parameter',
    () => class Order extends dto({ line: class Inner extends dto({ page: queryParam(int) }) {} }) {},
    /Inner\.page: queryParam binds only at the root/,
  ],
  [
    'a nested dto with a claim, in a list',
    () => class Order extends dto({ lines: list(class Inner extends dto({ who: fromClaim(string) }) {}) }) {},
    /Inner\.who: fromClaim binds only at the root/,
  ],
  [
    'a root list whose items have a header',
    () => list(class Inner extends dto({ h: fromHeader(string) }) {}),
    /Inner\.h: fromHeader binds only at the root/,
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

it.each<[string, () => AnyType, string]>([
  [
    'a type three levels deep',
    () => class Order extends dto({ a: class A extends dto({ b: class B extends dto({ at: Date }) {} }) {} }) {},
    'bindRequest: Order.a: B.at: Date has no declared properties',
  ],
  [
    'equal names of a nested dto',
    () => {
      const x = field(int, { jsonPropertyName: 'x' });
      return class Order extends dto({ line: class Inner extends dto({ a: x, b: x }) {} }) {};
    },
    'bindRequest: Order.line: Inner.a and Inner.b have the same JSON name, "x".',
  ],
  [
    'a file in a JSON body',
    () => class Order extends dto({ rush: fromBody(class Photo extends dto({ title: string, cover: file }) {}) }) {},
    'bindRequest: Order.rush: it contains a file (Photo.cover), and files come only from a form; declare it with fromForm.',
  ],
])('%s is named in one error, which says it once', (_what, declare, message) => {
  const error = errorOf(() => bindRequest(declare()));
  expect(error.message).toContain(message);
  // The cause is the innermost error: a chain of causes would repeat the sentence.
  expect((error.cause as Error).cause).toBeUndefined();
});

it.each<[string, () => unknown, string]>([
  [
    'a constructor',
    () =>
      bindRequest(
        class Order extends dto({ a: int }) {
          constructor() {
            super();
            fail();
          }
        },
      ),
    'bindRequest: Order: its constructor failed when called without arguments: not today',
  ],
  ['lazy', () => bindRequest(class Order extends dto({ a: lazy(fail) }) {}), 'bindRequest: Order.a: not today'],
  [
    'propertyNamingPolicy',
    () => bindRequest(class Order extends dto({ a: int }) {}, { propertyNamingPolicy: fail }),
    'bindRequest: Order.a: propertyNamingPolicy failed: not today',
  ],
])('an error of a function of the application is named, and is the cause: %s', (_what, make, message) => {
  const { message: all, cause } = errorOf(make);
  expect([all, cause]).toEqual([message, new RangeError('not today')]);
});

it.each<[string, () => unknown, string]>([
  [
    'of bindRequest',
    () => bindRequest(Line, { responses: { 200: class View extends dto({ at: Date }) {} } }),
    'bindRequest: responses[200]: View.at: Date has',
  ],
  [
    'of a context',
    () => serializerContext({ responses: { 200: class View extends dto({ at: Date }) {} } }),
    'serializerContext: responses[200]: View.at: Date has',
  ],
  [
    'that a context reads',
    () => serializerContext({ request: class View extends dto({ at: Date }) {} }),
    'serializerContext: View.at: Date has',
  ],
])('a type %s is named with the function that refuses it', (_what, make, message) => {
  expect(errorOf(make).message.startsWith(message)).toBe(true);
});

it.each<[string, () => AnyType]>([
  ['an unknown source', () => class Order extends dto({ rush: field(bool, { dontBind: ['body' as Source] }) }) {}],
  ['a file from the query', () => class Order extends dto({ rush: queryParam(file) }) {}],
  ['a file from the route', () => class Order extends dto({ rush: routeParam(file) }) {}],
  ['files from a header', () => class Order extends dto({ rush: fromHeader(list(file)) }) {}],
  ['a file as the whole body', () => class Order extends dto({ rush: fromBody(file) }) {}],
  ['a file that no form may bring', () => class Order extends dto({ rush: field(file, { dontBind: ['form'] }) }) {}],
  [
    'a required value that no source may bring',
    () => class Order extends dto({ rush: field(bool, { dontBind: ['json', 'form', 'route', 'query'] }) }) {},
  ],
])('%s is refused when the middleware is made, and the property is named', (_what, declare) => {
  expect(() => bindRequest(declare())).toThrow(/rush/);
});

it.each<[string, () => unknown, string]>([
  [
    'a property as a type',
    () => optional(routeParam(int) as unknown as AnyType),
    'a declaration such as field(int) is not a type; write the type alone (int). In a dto, the kind goes outside: routeParam(optional(int)).',
  ],
  [
    'a property in a property',
    () => field(queryParam(int) as unknown as AnyType),
    'a declaration such as field(int) is not a type',
  ],
  ['a function that makes types', () => field(list as unknown as AnyType), 'call it: list(string)'],
  ['String', () => String, 'the type for it is string'],
  ['Number', () => Number, 'the type for it is int, double or decimal'],
  ['Date', () => Date, 'the type for it is dateTime'],
  ['an array', () => [int], 'An array (write list(int) for a collection of int) is not a type'],
  [
    'an object',
    () => ({ street: string }),
    'An object (a dto is a class: class Address extends dto({ street: string }) {}) is not a type',
  ],
  [
    'a name',
    () => fromHeader('X-Tenant' as unknown as AnyType, string as object),
    'The text "X-Tenant" (the type comes first, as in fromHeader(string, { name: \'X-Tenant\' })) is not a type',
  ],
  [
    'a type where lazy wants a function',
    () => lazy(int as unknown as () => AnyType),
    'lazy takes a function that returns the type, for example lazy(() => Node)',
  ],
  [
    'a class where lazy wants a function',
    () => lazy(class Node extends dto({ a: int }) {} as unknown as () => AnyType),
    'lazy takes a function that returns the type: lazy(() => Node)',
  ],
  [
    'a class whose constructor wants an argument',
    () =>
      class Line2 extends dto({ a: int }) {
        constructor(given: { b: number }) {
          super();
          Object.assign(this, { b: given.b });
        }
      },
    'Line2: its constructor failed when called without arguments: ',
  ],
])('%s says what to write instead', (_what, type, message) => {
  expect(() => bindRequest(class Order extends dto({ rush: type() as AnyType }) {})).toThrow(message);
});

it.each([Number.NaN, 5, null])('%s where bindRequest wants a type says that it is none', value => {
  expect(() => bindRequest(value as unknown as AnyType)).toThrow(
    `bindRequest: ${value} is not a type that values can be bound to. Use a type of bindonce (string, int, list(…))`,
  );
});

it.each<[string, (...exchange: unknown[]) => unknown, string]>([
  [
    'idempotency',
    idempotency as never,
    'idempotency was passed to Express without being called. Mount what it returns: idempotency(…).',
  ],
  ['bindRequest', bindRequest as never, 'bindRequest was passed to Express without being called.'],
  [
    'problemDetails',
    problemDetails as never,
    'problemDetails was passed to Express without being called. Write app.use(problemDetails()).',
  ],
])('%s that is mounted without being called answers 500, and says so', async (_name, mounted, message) => {
  const app = express().use(mounted as RequestHandler, (_req, res) => {
    res.end();
  });
  app.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
    if (res.headersSent) next(error);
    else res.status(500).end(error.message);
  });
  const { status, text } = await ask(app);
  expect([status, text]).toEqual([500, expect.stringContaining(message)]);
});

it.each([{}, undefined, null, 'title', { detail: 'x' }])('problemDetails refuses options: %j', options => {
  expect(() => problemDetails(options as never)).toThrow(
    new TypeError('problemDetails takes no options. Write app.use(problemDetails()).'),
  );
});

it.each<[string, unknown, string]>([
  ['true', true, 'Money.tryParse must return { success: true, value } or { success: false }, and has returned true'],
  ['nothing', undefined, 'and has returned undefined'],
  ['the value', { cents: 1 }, 'and has returned another object'],
])("a tryParse that returns %s is the application's mistake, and not the client's", async (_what, result, message) => {
  class Money {
    static tryParse(): never {
      return result as never;
    }
  }
  const { status, response } = await bind(class Order extends dto({ price: Money }) {}, { json: { price: 'x' } });
  expect([status, response.text]).toEqual([500, expect.stringContaining(message)]);
});

describe("a promise that is rejected, where a value is expected, is the application's mistake:", () => {
  const reject = (): Promise<never> => Promise.reject(new Error('no directory'));
  class Price {}
  class Parsed {
    static readonly tryParse = reject as () => never;
  }

  it.each<[string, AnyType, BindingOptions]>([
    ['of a tryParse', Parsed, {}],
    ['of a value parser', Price, { valueParsers: [valueParserFor(Price, reject as () => never)] }],
    ['of a converter', Price, { converters: [{ type: Price, read: reject as () => never, write: String }] }],
  ])('%s', async (_what, type, options) => {
    const json = { price: 'x' };
    const sent = options.valueParsers ? { path: '/?price=x' } : { json };
    const { status, response } = await bind(class Order extends dto({ price: field(type) }) {}, sent, options);
    // Jest fails a test during which a rejection is left unhandled.
    await new Promise(setImmediate);
    expect([status, response.text]).toEqual([500, expect.stringContaining('and has returned another object')]);
  });
});

it("a binder that returns nothing is the application's mistake", async () => {
  const { status, response } = await bind(Line, {}, { binder: { bind: () => undefined } });
  expect([status, response.text]).toEqual([500, 'bindRequest: the binder returned undefined; is a `return` missing?']);
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
    expect(() => bindRequest(Dto)).toThrow(new TypeError(message(property, what)));
    expect(() => configure().bindRequest(Dto, { allowFormData: false })).toThrow(message(property, what));
    for (const allowFormData of [true, { urlEncoded: true }] as const)
      expect(() => bindRequest(Dto, { allowFormData })).not.toThrow();
    expect(() => configure({ binding: { allowFormData: true } }).bindRequest(Dto)).not.toThrow();
  });

  it("is the business of a binder of the application's own", () => {
    class Own extends RequestBinder<Upload> {}
    for (const binder of [new Own(), { bind: () => new Upload() }, () => new Own()])
      expect(() => bindRequest(Upload, { binder })).not.toThrow();
    expect(() => bindRequest(Upload, { binder: new RequestBinder() })).toThrow('Upload.title');
  });

  it('is accepted where another source can bring it, or it may be missing', () => {
    class Fine extends dto({
      a: string,
      b: formField(int, { required: false }),
      c: optional(file),
      d: formField(bool, { default: true }),
    }) {}
    expect(() => bindRequest(Fine)).not.toThrow();
  });
});

describe('two declarations of one property', () => {
  it('are refused when the class is made, and both are named', () => {
    expect(() => {
      class Twice {
        @queryParam(string) @fromHeader(string) tenant!: string;
      }
      return Twice;
    }).toThrow(
      new TypeError(
        'tenant: it is declared twice, with fromHeader and with queryParam; use one of them, with all options',
      ),
    );
    expect(() => {
      class Same {
        @field(int) @field(string) n: unknown;
      }
      return Same;
    }).toThrow('n: it is declared twice, with field and with field');
  });

  it('a derived class may declare a property of its base class anew, in both notations', async () => {
    class Base {
      @queryParam(string) tenant!: string;
    }
    class Derived extends Base {
      @fromHeader(string) override tenant = 'none';
    }
    class FromDto extends dto({ tenant: queryParam(string) }) {}
    class DerivedDto extends FromDto {
      @fromHeader(string) override tenant = 'none';
    }
    for (const Dto of [Derived, DerivedDto])
      expect((await bind(Dto, { path: '/?tenant=query', headers: { tenant: 'header' } })).dto?.tenant).toBe('header');
    expect((await bind(Base, { path: '/?tenant=query', headers: { tenant: 'header' } })).dto?.tenant).toBe('query');
  });
});

it('valid declarations are accepted', () => {
  class Fine extends dto({
    a: field(file, { required: false }),
    b: optional(list(file)),
    c: field(bool, { dontBind: ['json', 'form', 'route', 'query'], required: false }),
    d: fromBody(Line),
    e: fromHeader(list(Named)),
  }) {}
  expect(() => bindRequest(Fine)).not.toThrow();
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

  it('come after the dto', () => {
    expect(() => bindRequest({} as AnyType, Line as BindingOptions)).toThrow(
      'bindRequest takes the dto first, and then the options: bindRequest(Dto, { … }).',
    );
  });

  it('configure() checks its defaults when it is called', () => {
    expect(() => configure({ binding: { allowAnonymos: false } as BindingOptions })).toThrow(
      'there is no option "allowAnonymos"; did you mean "allowAnonymous"?',
    );
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

  it.each<[string, () => Property<unknown>, string]>([
    [
      'a name that is nearly one',
      () => queryParam(int, nobody({ defualt: 1 })),
      'queryParam: there is no option "defualt"; did you mean "default"?',
    ],
    [
      'the option of another source',
      () => queryParam(int, nobody({ name: 'n' })),
      'queryParam: there is no option "name"; did you mean "bindFrom"?',
    ],
    [
      'a word for an option',
      () => field(int, nobody({ jsonName: 'n' })),
      'field: there is no option "jsonName"; did you mean "jsonPropertyName"?',
    ],
    [
      'the opposite of an option',
      () => routeParam(int, nobody({ optional: true })),
      'routeParam: there is no option "optional"; did you mean "required"?',
    ],
    [
      'another name',
      () => field(int, nobody({ zzz: 1 })),
      'field: there is no option "zzz"; there are: bindFrom, jsonPropertyName, dontBind, required, jsonRequired, default',
    ],
    [
      'a header name that is none',
      () => fromHeader(string, { name: 'X Tenant' }),
      'fromHeader: name must be an HTTP header name, not "X Tenant"',
    ],
    ['an empty claim type', () => fromClaim(string, { name: '' }), 'fromClaim: name must be a name, not ""'],
    [
      'required that is no boolean',
      () => field(int, nobody({ required: 'no' })),
      'field: required must be true or false, not "no"',
    ],
    [
      'bindFrom that is no text',
      () => formField(int, nobody({ bindFrom: 5 })),
      'formField: bindFrom must be a name, not 5',
    ],
    [
      'dontBind that is no array',
      () => field(int, nobody({ dontBind: 'query' })),
      'field: dontBind must be an array of sources, not "query"',
    ],
    [
      'an option that a single source does not have',
      () => routeParam(int, nobody({ dontBind: ['query'] })),
      'routeParam: there is no option "dontBind"; there are: bindFrom, required, jsonRequired, default',
    ],
    [
      'a second name of a permission',
      () => hasPermission('orders:read', nobody({ name: 'orders:write' })),
      'hasPermission: there is no option "name"; there are: required',
    ],
    [
      'an option that a permission does not have',
      () => hasPermission('orders:read', nobody({ default: true })),
      'hasPermission: there is no option "default"',
    ],
    [
      'no object',
      () => field(int, 'optional' as unknown as object),
      'field: options must be an object, not "optional"',
    ],
  ])('%s', (_what, declare, message) => {
    expect(() => dto({ fine: int, rush: declare() })).toThrow(`dto: property "rush": ${message}`);
    expect(() => {
      class Decorated {
        @declare() rush: unknown;
      }
      return Decorated;
    }).toThrow(`rush: ${message}`);
  });
});

it.each<[string, () => AnyType, string]>([
  [
    'a file',
    () => class Photo extends dto({ title: string, cover: file }) {},
    'bindRequest: responses[200]: it contains a file (Photo.cover), which a response cannot; ',
  ],
  [
    'a list of files, nested',
    () => list(class Album extends dto({ photos: list(file) }) {}),
    'responses[200]: it contains a file (Album.photos), which a response cannot',
  ],
  ['a file itself', () => file, 'responses[200]: it contains a file, which a response cannot'],
])('%s in a response is refused when the middleware is made', (_what, declare, message) => {
  expect(() => bindRequest(Line, { responses: { 200: declare() } })).toThrow(message);
});
