import type { RequestHandler } from 'express';
import multer from 'multer';
import { z } from 'zod';
import { bindRequest, configure, date, dateTime, double, dto, enumOf, field, file, formField } from '../../../lib';
import { fromBody, fromClaim, fromForm, fromHeader, fromQuery, guid, hasPermission, idempotency } from '../../../lib';
import { int, jsonField, lazy, list, nullable, oneOf, optional, partial, pick, plainText } from '../../../lib';
import { problemDetails, queryParam, queryValue, record, RequestBinder, routeParam } from '../../../lib';
import { serializerContext, string } from '../../../lib';
import type { AnyType, BindingOptions, DtoClass, ParseResult, Property, SerializerTypes } from '../../../lib';
import { bind } from '../../support/one-endpoint';

type Shape = Parameters<typeof dto>[0];
type Declared = [message: string, declare: () => Property<unknown> | AnyType];
type Row = [message: string, options: object];

class Line extends dto({ sku: string }) {}
class Photo extends dto({ image: file }) {}
class Album extends dto({ photos: list(Photo) }) {}
class NotADto {
  a = 1;
}
class Money {
  static tryParse = (): ParseResult<Money> => ({ success: false });
}
class Amount extends dto({ cents: int }) {
  static tryParse = (): ParseResult<Amount> => ({ success: false });
}
class Getter extends dto({ sku: string }) {
  get kind(): string {
    return 'x';
  }
}
const x = field(int, { jsonPropertyName: 'x' });
class SameJson extends dto({ a: x, b: x }) {}
class Renamed extends dto({ v: field(string, { jsonPropertyName: 'kind' }) }) {}
class BySnake extends dto({ userName: string, user_name: string }) {}

/** Types that contain themselves, as their own types cannot say. */
const itself: AnyType = lazy((): AnyType => itself);
const listOfItself: AnyType = list(lazy((): AnyType => listOfItself));
const nullableItself: AnyType = nullable(list(lazy((): AnyType => nullableItself)));
/** What callers without a compiler pass. */
const anything = (value: unknown): never => value as never;

const ROOT = 'binds only at the root of a request';
const ITSELF = 'Order.v: this type contains itself and nothing else; put a dto between the two';
const UNDECLARED = 'has no declared properties and no static tryParse';
const DECLARATION = 'a declaration such as field(int) is not a type; write the type alone (int). In a dto, ';
const FILE = 'Order.v: it contains a file (Photo.image), and files come only from a form; declare it with fromForm.';

/** Makes the middleware of a dto called Order. It accepts forms, so that no property lacks one. */
const order = (shape: Shape, options: BindingOptions = {}): unknown =>
  bindRequest(class Order extends dto(shape) {}, { allowFormData: true, ...options });

function refused(make: () => unknown, message: string): void {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
}

describe('a property that cannot be bound fails when the middleware is made, and is named:', () => {
  it.each<Declared>([
    ['Order.v: it cannot be a file', () => fromBody(file)],
    [FILE, () => Photo],
    [FILE, () => fromBody(Album)],
    [FILE, () => fromClaim(Photo)],
    [FILE, () => oneOf('kind', { a: Photo })],
    [`Inner.v: fromClaim ${ROOT}`, () => list(class Inner extends dto({ v: fromClaim(string) }) {})],
    [`fromClaim ${ROOT}`, () => oneOf('kind', { a: dto({ v: fromClaim(string) }) })],
    ['Order.v: a record has no missing values', () => record(optional(int))],
    [`Order.v: NotADto ${UNDECLARED}`, () => NotADto],
    [`Order.v: value ${UNDECLARED}`, () => anything(() => 1)],
    [`Order.v: B.c: Date ${UNDECLARED}`, () => class A extends dto({ b: class B extends dto({ c: Date }) {} }) {}],
    ['Order.v: SameJson.a and SameJson.b have the same JSON name, "x".', () => SameJson],
    ['SameJson.a and SameJson.b have the same JSON name, "x".', () => oneOf('kind', { a: SameJson })],
    ['Renamed.kind and Renamed.v have the same JSON name, "kind".', () => oneOf('kind', { a: Renamed })],
    [ITSELF, () => itself],
    [ITSELF, () => listOfItself],
    [ITSELF, () => nullableItself],
    ['Order.v: lazy must not return an optional type: write optional(lazy', () => lazy(() => optional(int))],
    ['Order.v: undefined is not a type', () => lazy(() => anything(undefined))],
    ['"v": undefined is not a type', () => fromForm(anything(undefined))],
    ['Order.v: it is required, but no source can supply it: files come only from a form.', () => jsonField(file)],
  ])('%s', (message, declare) => {
    refused(() => order({ v: declare() }), message);
  });

  it.each<Declared>([
    [DECLARATION, () => optional(anything(routeParam(int)))],
    [DECLARATION, () => field(anything(queryParam(int)))],
    ['take a type of bindonce (string, int, dateTime, list(string), …)', () => field(anything(list))],
    ['take a type of bindonce (string, int, dateTime, list(string), …)', () => String],
    ['an array of an object is not a type', () => anything([int])],
    ['an object with a is not a type', () => anything({ a: int })],
    ['"X-T" is not a type', () => fromHeader(anything('X-T'), anything(string))],
    ['lazy takes a function that returns the type, for example lazy(() => Node)', () => lazy(anything(int))],
    ['lazy takes a function that returns the type', () => lazy(anything(Line))],
    ['optional: null must be "refuse"', () => optional(int, { null: anything('accept') })],
    ['partial takes a dto class, one with declared properties', () => partial(NotADto)],
    ['pick: Line declares no property "skv"; there are: sku', () => pick(Line, [anything('skv')])],
    ['oneOf: "a": Line has a property sku itself', () => oneOf('sku', { a: Line })],
    ['oneOf: "a": Getter has a property kind itself', () => oneOf('kind', { a: Getter })],
    ['the types by the names of their properties must be an object, not undefined', () => dto(anything(undefined))],
    ['dto: the types by the names of their properties must be an object, not an array', () => dto(anything([int]))],
    ['oneOf: the dto classes by the values of kind must be an object', () => oneOf('kind', anything(undefined))],
    ['oneOf: "a" is no dto class', () => oneOf('kind', { a: int as unknown as DtoClass<object> })],
    ["enumOf takes an enum, or a list of at least one string: enumOf(['draft', 'sent']), not an", () => enumOf([])],
    ['enumOf takes an enum, or a list of at least one string: ', () => enumOf(anything({}))],
    ['not "draft"', () => enumOf(anything('draft'))],
    ['not an object with draft', () => enumOf(anything({ draft: {} }))],
    ['int.with: there is no option "minimun"; did you mean "minimum"?', () => int.with(anything({ minimun: 1 }))],
    ['string.with: there is no option "minimum"', () => string.with(anything({ minimum: 1 }))],
    ['int.with: minimum must be a number, a bigint or the text of a number', () => int.with({ minimum: 'one' })],
    ['int.with: no value has both minimum 2 and maximum 1', () => int.with({ minimum: 2, maximum: 1 })],
    ['no value has both', () => int.with({ minimum: 2 }).with({ maximum: 1 })],
    ['both minimum 1 and exclusiveMaximum 1', () => int.with({ minimum: 1, exclusiveMaximum: 1 })],
    ['above zero', () => double.with({ multipleOf: 0 })],
    ['string.with: no value has both minLength 2 and maxLength 1', () => string.with({ minLength: 2, maxLength: 1 })],
    ['maxLength must be a whole number from 0, not -1', () => string.with({ maxLength: -1 })],
    ['pattern must be a regular expression without flags but u', () => string.with({ pattern: /a/i })],
    ['format must be "email" or "hostname" or "ipv4" or "ipv6"', () => string.with(anything({ format: 'uri' }))],
    ['list.with: no value has both minItems 2 and maxItems 1', () => list(int, { minItems: 2, maxItems: 1 })],
    ["an array of media types, for example ['image/png', 'image/*']", () => file.with({ mediaTypes: ['png'] })],
    ['minimum must be a Date, or the text of a date and time, not "soon"', () => dateTime.with({ minimum: 'soon' })],
    ['no value has both', () => date.with({ minimum: '2026-01-02', maximum: '2026-01-01' })],
    ['check must be a function', () => guid.with(anything({ check: true }))],
  ])('%s: the error says what to write instead', (message, declare) => {
    refused(() => order({ v: declare() }), message);
  });

  it.each<[message: string, shape: () => Shape]>([
    [
      'Order.v is plainText and Order.w is plainText; only one property can take all of a source.',
      () => ({ v: plainText(), w: plainText() }),
    ],
    ['Order.v is fromForm and Order.w is fromForm; only', () => ({ v: fromForm(Line), w: fromForm(Album) })],
    [
      'Order.v is fromQuery and Order.w is fromQuery; only',
      () => ({ v: fromQuery(Line), w: fromQuery(optional(Line)) }),
    ],
    ['Order.v is fromBody and Order.w is plainText; only', () => ({ v: fromBody(Line), w: plainText() })],
    ['Order.w: formField cannot be combined with fromForm', () => ({ v: fromForm(Line), w: formField(string) })],
    ['Order.w: a file cannot be combined with fromForm', () => ({ v: fromForm(Line), w: file })],
    ['Order.v and Order.w have the same JSON name, "x".', () => ({ v: x, w: x })],
  ])('%s', (message, shape) => {
    refused(() => order(shape()), message);
  });

  it.each<[message: string, Dto: AnyType]>([
    [`NotADto ${UNDECLARED}`, NotADto],
    ['int cannot be the dto of a request', int],
    ['file cannot be the dto of a request', file],
    ['list of file cannot be the dto of a request', list(file)],
    ['it contains a file (Photo.image)', list(Photo)],
    [`Form.v: fromForm ${ROOT}`, list(class Form extends dto({ v: fromForm(Line) }) {})],
    ...[undefined, Number.NaN, 5, null].map((value): [string, AnyType] => [
      `bindRequest: ${value} is not a type that values can be bound to. Use a type of bindonce (string, int, list(…))`,
      anything(value),
    ]),
  ])('%s', (message, Dto) => {
    refused(() => bindRequest(Dto, { allowFormData: true }), message);
  });

  it('a second fromForm in a class that extends another', () => {
    class Order extends dto({ v: fromForm(Line) }) {}
    class Late extends Order {
      w = new Line();
    }
    fromForm(Line)(Late.prototype, 'w');
    refused(() => bindRequest(Late), 'Late.v is fromForm and Late.w is fromForm; only');
  });

  it('a nested property for the root only, in a class that refers to itself', () => {
    class Node {
      @queryParam(int) page = 1;
      @field(optional(lazy(() => Node))) next: Node | undefined;
    }
    refused(() => bindRequest(Node), `Node.page: queryParam ${ROOT}`);
  });

  it('a constructor that needs arguments, and a property that is declared twice', () => {
    class Needs extends dto({ a: int }) {
      constructor(given: { b: number }) {
        super();
        Object.assign(this, { b: given.b });
      }
    }
    refused(() => order({ v: Needs as AnyType }), 'Needs: its constructor failed when called without arguments: ');
    const twice = (): unknown =>
      class {
        @queryParam(string) @fromHeader(string) tenant!: string;
      };
    refused(
      twice,
      'tenant: it is declared twice, with fromHeader and with queryParam; use one of them, with all options',
    );
  });
});

it('a mistake is named in one error, which says it once', () => {
  const { message, cause } = ((): Error => {
    try {
      return order({ v: fromBody(Album) }) as Error;
    } catch (error) {
      return error as Error;
    }
  })();
  expect(message).toBe(`bindRequest: ${FILE}`);
  // The cause is the innermost error: a chain of causes would repeat the sentence.
  expect((cause as Error).cause).toBeUndefined();
});

describe.each([
  ['fromForm', fromForm],
  ['fromQuery', fromQuery],
] as const)('%s', (kind, from) => {
  it.each<[not: string, type: AnyType]>([
    ['int', int],
    ['enum (a)', enumOf(['a'])],
    ['Money', Money],
    ['Amount', Amount],
    ['list of Line', optional(list(Line))],
    ['int', nullable(int)],
    ['list of file', list(file)],
    ['int', lazy(() => int)],
  ])('takes an object, not %s', (not, type) => {
    const message = `Order.v: ${kind} takes an object, whose properties are bound by name: a dto class, not ${not}.`;
    refused(() => order({ v: from(type) }), message);
  });

  it.each([
    ...[fromForm(Line), fromQuery(Line), fromBody(Line), formField(int), queryParam(int), routeParam(int)],
    ...[fromHeader(string), fromClaim(string), hasPermission('a'), plainText()],
  ])('takes no object with a property that is for the root only: %#', property => {
    class Inner extends dto({ deep: property }) {}
    class Middle extends dto({ items: list(Inner) }) {}
    for (const type of [Inner, Middle]) {
      refused(() => order({ v: from(type) }), 'Order.v: Inner.deep: ');
      refused(() => order({ v: from(type) }), ROOT);
    }
  });
});

describe('options of a declaration are checked when the class is made, in both notations:', () => {
  it.each<Declared>([
    ['queryParam: there is no option "defualt"; did you', () => queryParam(int, anything({ defualt: 1 }))],
    ['queryParam: there is no option "name"; there are: bindFrom', () => queryParam(int, anything({ name: 'n' }))],
    ['there is no option "jsonName"', () => field(int, anything({ jsonName: 'n' }))],
    ['there is no option "optional"', () => routeParam(int, anything({ optional: true }))],
    ['field: there is no option "zzz"; there are: bindFrom, jsonPropertyName', () => field(int, anything({ zzz: 1 }))],
    ['fromHeader: name must be an HTTP header name, not "X T"', () => fromHeader(string, { name: 'X T' })],
    ['fromClaim: name must be a name, not ""', () => fromClaim(string, { name: '' })],
    ['field: required must be true or false, not "no"', () => field(int, anything({ required: 'no' }))],
    ['formField: bindFrom must be a name, not 5', () => formField(int, anything({ bindFrom: 5 }))],
    [
      'field: dontBind must be an array of json, form, route, query, claim, header, cookie, permission, not "a"',
      () => field(int, anything({ dontBind: 'a' })),
    ],
    ['routeParam: there is no option "dontBind"', () => routeParam(int, anything({ dontBind: ['query'] }))],
    ['hasPermission: there is no option "name"; there', () => hasPermission('a', anything({ name: 'b' }))],
    ['hasPermission: there is no option "default"', () => hasPermission('a', anything({ default: true }))],
    ['field: options must be an object, not "optional"', () => field(int, anything('optional'))],
    ...[fromBody, fromForm, fromQuery].map((whole): Declared => [
      'there is no option "required"; it takes none',
      () => (whole as typeof field)(Line, { required: false }),
    ]),
    ...[new Money(), [1, new Money()], { price: new Money() }, new Map(), new Line()].map((value): Declared => [
      'the default has an instance of ',
      () => field(z.any(), { default: value }),
    ]),
  ])('%s', (message, declare) => {
    refused(() => dto({ fine: int, v: declare() }), message);
    refused(() => dto({ fine: int, v: declare() }), 'dto: property "v": ');
    refused(() => {
      class Decorated {
        @(declare() as Property<unknown>) v: unknown;
      }
      return Decorated;
    }, message);
  });
});

describe('a required property that only a form can bring', () => {
  class Upload extends dto({ v: formField(string), page: queryParam(int) }) {}
  const message = (what: string): string =>
    `it is required and binds only from a form, but the endpoint accepts no form; pass { ${what} }, or declare it`;

  it.each<[AnyType, what: string]>([
    [Upload, 'allowFormData: true or { urlEncoded: true }'],
    [dto({ v: file }), 'allowFormData: true'],
    [dto({ v: field(list(file)) }), 'allowFormData: true'],
    [dto({ v: fromForm(Line) }), 'allowFormData: true or { urlEncoded: true }'],
  ])('is refused at an endpoint that accepts no form: %#', (Dto, what) => {
    refused(() => bindRequest(Dto), message(what));
    refused(() => configure().bindRequest(Dto, { allowFormData: false }), `.v: ${message(what)}`);
    for (const allowFormData of [true, { urlEncoded: true }] as const)
      expect(() => bindRequest(Dto, { allowFormData })).not.toThrow();
    expect(() => configure({ binding: { allowFormData: true } }).bindRequest(Dto)).not.toThrow();
  });
});

const SOURCES = 'fieldSources must be an array of json, form, route, query';
const NAMING = 'propertyNamingPolicy must be ';
const CONVERTERS = 'converters must be an array of { type, read, write }';
const PARSERS = 'valueParsers must be an array of results of valueParserFor()';
const BINDER = 'the function in `binder` must return an object';
const MEDIA = 'bindRequest: jsonTypes must be an array of media types without parameters, not';
const [read, write] = [(): ParseResult<never> => ({ success: false }), String];

describe('options are refused when the middleware is made:', () => {
  it.each<Row>([
    ['bindRequest: there is no option "allowFormdata"; did you mean "allowFormData"?', { allowFormdata: true }],
    ['allowFormData must be true, false or { urlEncoded: true }, not "yes"', { allowFormData: 'yes' }],
    ['allowFormData must be true, false or { urlEncoded: true }, not an object', { allowFormData: { urlEncoded: 1 } }],
    ['not an object with urlencoded', { allowFormData: { urlencoded: true } }],
    ['allowAnonymous must be true or false, not "false"', { allowAnonymous: 'false' }],
    ['claims must be a function, not an object', { claims: {} }],
    ['permissions must be a function, not an array of "a", an object', { permissions: ['a', {}] }],
    ['permissions must be a function, not an empty array', { permissions: [] }],
    ['limits must be an object, not 5', { limits: 5 }],
    ['uploads must be { storage, directory } or a Multer, not "disk"', { uploads: 'disk' }],
    ['uploads: storage must be "memory" or "disk", not "cloud"', { uploads: { storage: 'cloud' } }],
    ['there is no option "dir"', { uploads: { storage: 'disk', dir: '/x' } }],
    ["uploads.directory has an effect only with storage: 'disk'; add that.", { uploads: { directory: '/x' } }],
    ['directory must be a path, not ""', { uploads: { directory: '' } }],
    ['uploads: options must be an object, not an instance of DiskStorage', { uploads: multer.diskStorage({}) }],
    ['there is no option "zzz"; there are: allowFormData, jsonTypes, allowAnonymous', { zzz: 1 }],
    ...[['json', 'header'], 'json'].map((fieldSources): Row => [SOURCES, { fieldSources }]),
    ...['text', 'text/plain; charset=utf-8', '*', '', 7].map((type): Row => [MEDIA, { jsonTypes: [type] }]),
    ['items must be a whole number above zero, not 0', { limits: { items: 0 } }],
    ['files must be', { limits: { files: -1 } }],
    ['bodyBytes must be', { limits: { bodyBytes: 1.5 } }],
    ['fields must be a whole number above zero, not "5"', { limits: { fields: '5' } }],
    ['fileBytes must be', { limits: { fileBytes: Infinity } }],
    ['there is no option "item"; did you mean "items"?', { limits: { item: 5 } }],
    [CONVERTERS, { converters: { type: Money, read, write } }],
    ...[{ read, write }, { type: Money, write }, { type: Money, read }, undefined].map((one): Row => [
      CONVERTERS,
      { converters: [one] },
    ]),
    [PARSERS, { valueParsers: [Money] }],
    [PARSERS, { valueParsers: { type: Money } }],
    [NAMING, { propertyNamingPolicy: 'SNAKE' }],
    [NAMING, { propertyNamingPolicy: 1 }],
    ['contexts must be an array of serializer contexts', { contexts: [{}] }],
    ['for a class, pass an instance', { binder: RequestBinder }],
    ['for a class, pass an instance', { binder: class {} }],
    ['binder must be an object with a method bind(context, signal)', { binder: {} }],
  ])('%s', (message, options) => {
    refused(() => bindRequest(Line, options), message);
    refused(() => configure({ binding: options }), message);
  });

  it.each<[message: string, Dto: AnyType, options: BindingOptions]>([
    [BINDER, Line, { binder: anything(() => undefined) }],
    [BINDER, Line, { binder: anything(() => Promise.resolve({ bind: () => new Line() })) }],
    ['BySnake.userName and BySnake.user_name have the', list(BySnake), { propertyNamingPolicy: 'snake_case' }],
    ['BySnake.userName and BySnake.user_name have', dto({ v: BySnake }), { propertyNamingPolicy: 'kebab-case' }],
    ['SameJson.a and SameJson.b have the same JSON name, "x".', SameJson, {}],
    ['BySnake.userName and BySnake.user_name have the same', BySnake, { propertyNamingPolicy: () => 'x' }],
    ['responses[201]: SameJson.a and SameJson.b have the same JSON', Line, { responses: { 201: SameJson } }],
    ['responses[200]: it contains a file (Photo.image), which a', Line, { responses: { 200: Photo } }],
    ['responses[200]: it contains a file (Photo.image)', Line, { responses: { 200: list(Album) } }],
    ['responses[200]: it contains a file, which a response cannot', Line, { responses: { 200: file } }],
  ])('%s', (message, Dto, options) => {
    refused(() => bindRequest(Dto, options), message);
  });

  /** The endpoint takes JSON only, so that a property has no source left. */
  it.each<[what: string, shape: () => Shape]>([
    ['whose only source is blocked', () => ({ v: field(int, { dontBind: ['json'] }) })],
    ['that is a file', () => ({ v: optional(file) })],
    ['beside fromBody', () => ({ v: optional(int), whole: fromBody(Line) })],
    ['of JSON beside fromBody', () => ({ v: jsonField(optional(int)), whole: fromBody(Line) })],
    ['of JSON beside plainText', () => ({ v: jsonField(optional(int)), text: plainText() })],
    ['of JSON that is a file', () => ({ v: jsonField(optional(file)) })],
  ])('that leave no source to a property %s', (_what, shape) => {
    refused(() => order(shape(), { fieldSources: ['json'], fallback: false }), 'Order.v: ');
  });

  it.each<[message: string, types: SerializerTypes]>([
    [`Holder.v: NotADto ${UNDECLARED}`, { request: class Holder extends dto({ v: list(NotADto) }) {} }],
    [`responses[200]: NotADto ${UNDECLARED}`, { responses: { 200: NotADto } }],
    ['SameJson.a and SameJson.b have the same JSON name, "x".', { request: SameJson }],
    ['responses must be an object of types by status', { responses: { 20: Line } }],
    ['serializerContext: there is no option "naming"', anything({ naming: 'snake_case' })],
    [NAMING, { propertyNamingPolicy: anything('snake') }],
    ['converters must be', { converters: [anything({})] }],
  ])('%s, of a serializer context', (message, types) => {
    refused(() => serializerContext(types), message);
  });
});

it.each<[string, () => unknown]>([
  ['options must be an object, not a function', () => bindRequest(anything({}), anything(Line))],
  ['problemDetails takes no arguments, and is not passed itself', () => problemDetails(anything({}))],
  [
    'field: the decorator of id got no context.metadata: ',
    // The context of esbuild 0.21.0 and of Babel's decorators of version 2023-01.
    () => field(int)(undefined, { kind: 'field', name: 'id' } as ClassFieldDecoratorContext<object, number>),
  ],
  [
    'The response declares Money here, but the handler passed an object.',
    () => serializerContext({ responses: { 200: Money } }).write(200, Object.create(Money.prototype)),
  ],
])('%s', (message, make) => {
  expect(make).toThrow(message);
});

it.each<[string, AnyType, text: unknown]>([
  [`fromClaim ${ROOT}`, list(dto({ sub: fromClaim(string) })), '[]'],
  [`plainText ${ROOT}`, dto({ text: plainText() }), '{}'],
])('%s: what a context cannot read', async (message, request, text) => {
  await expect(serializerContext({ request }).read(text as string)).rejects.toThrow(message);
});

const later = z.string().refine(() => Promise.resolve(true));

it.each<[string, RequestHandler]>([
  ['idempotency was passed to Express without being called. Mount what it returns:', anything(idempotency)],
  ['bindRequest was passed to Express without being called.', anything(bindRequest)],
  ['problemDetails takes no arguments, and is not passed itself', anything(problemDetails)],
  ['bindRequest: the binder returned undefined', bindRequest(Line, { binder: { bind: () => anything(undefined) } })],
  ['queryValue: the type of "v" is read asynchronously; bind it', req => void queryValue(req, 'v', later)],
])('%s: answered with 500, which says so', async (message, mounted) => {
  const { status, response } = await bind(Line, { path: '/?v=a', json: { sku: 'a' } }, { before: [mounted] });
  expect([status, response.text]).toEqual([500, expect.stringContaining(message)]);
});

it.each<[string, unknown]>([
  ['Odd.tryParse must return { success: true, value } or { success: false }, not true', true],
  ['not undefined', undefined],
  ['not an object with cents', { cents: 1 }],
])("a tryParse that returns %s is the application's mistake, and not the client's", async (message, result) => {
  class Odd {
    static tryParse = (): never => anything(result);
  }
  const { status, response } = await bind(dto({ price: Odd }), { json: { price: 'x' } });
  expect([status, response.text]).toEqual([500, expect.stringContaining(message)]);
});
