import {
  bindRequest,
  dto,
  enumOf,
  file,
  formField,
  fromBody,
  fromClaim,
  fromForm,
  fromHeader,
  fromQuery,
  hasPermission,
  int,
  lazy,
  list,
  nullable,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  type AnyType,
  type ParseResult,
} from '../../../lib';

class Line extends dto({ sku: string }) {}
class Photo extends dto({ image: file }) {}
class Album extends dto({ photos: list(Photo) }) {}
class NotADto {
  a = 1;
}
class Money {
  static tryParse(): ParseResult<number> {
    return { success: true, value: 1 };
  }
}
class Amount extends dto({ cents: int }) {
  static tryParse(): ParseResult<number> {
    return { success: true, value: 1 };
  }
}
/** A list of itself, as its type cannot say. */
const loop: AnyType = list(lazy(() => loop));
const nothing: AnyType = lazy(() => nothing);
const missing = undefined as unknown as AnyType;

describe.each([
  ['fromForm', fromForm],
  ['fromQuery', fromQuery],
] as const)('%s', (kind, from) => {
  const takes = (what: string): RegExp => new RegExp(`Order\\.lines: ${kind} takes an object.* not ${what}`);

  it.each<[string, AnyType, RegExp]>([
    ['an int', int, takes('int')],
    ['a string', string, takes('string')],
    ['an enum', enumOf(['a']), takes('enum')],
    ['a class that reads itself from text', Money, takes('Money')],
    ['a dto that reads itself from text', Amount, takes('Amount')],
    ['a list', list(Line), takes('list of Line')],
    ['a list of scalars', list(int), takes('list of int')],
    ['a list that may be missing', optional(list(Line)), takes('list of Line')],
    ['a scalar that may be null', nullable(int), takes('int')],
    ['a file', file, takes('file')],
    ['files', list(file), takes('list of file')],
    ['a scalar that is declared further down', lazy(() => int), takes('int')],
    ['a class without declared properties', NotADto, /Order\.lines: NotADto has no declared properties/],
    ['itself', nothing, /Order\.lines: this type contains itself and nothing else/],
    ['a type that is not there yet', lazy(() => missing), /Order\.lines: undefined is not a type/],
  ])('of %s is refused when the middleware is made', (_what, type, message) => {
    class Order extends dto({ lines: from(type) }) {}
    expect(() => bindRequest(Order, { allowFormData: true })).toThrow(TypeError);
    expect(() => bindRequest(Order, { allowFormData: true })).toThrow(message);
  });

  it('of nothing is refused when it is declared, and the property is named', () => {
    expect(() => dto({ lines: from(missing) })).toThrow(/"lines".* undefined is not a type/);
  });

  it.each([
    ['fromForm', fromForm(Line)],
    ['fromQuery', fromQuery(Line)],
    ['fromBody', fromBody(Line)],
    ['formField', formField(int)],
    ['queryParam', queryParam(int)],
    ['routeParam', routeParam(int)],
    ['fromHeader', fromHeader(string)],
    ['fromClaim', fromClaim(string)],
    ['hasPermission', hasPermission('a')],
    ['plainText', plainText()],
  ])('of an object that has a %s, which is for the root of a request only', (inner, property) => {
    class Inner extends dto({ deep: property }) {}
    class Order extends dto({ lines: from(Inner) }) {}
    class Deeper extends dto({ lines: from(class Middle extends dto({ items: list(Inner) }) {}) }) {}
    for (const [Dto, name] of [
      [Order, 'Order'],
      [Deeper, 'Deeper'],
    ] as const)
      expect(() => bindRequest(Dto)).toThrow(
        new RegExp(`${name}\\.lines: .*Inner\\.deep: ${inner} binds only at the root of a request`),
      );
  });
});

it.each<[string, () => AnyType, RegExp]>([
  [
    'two fromForm',
    () => class Order extends dto({ one: fromForm(Line), two: fromForm(Album) }) {},
    /Order\.one and Order\.two are both fromForm/,
  ],
  [
    'two fromQuery',
    () => class Order extends dto({ one: fromQuery(Line), two: fromQuery(optional(Line)) }) {},
    /Order\.one and Order\.two are both fromQuery/,
  ],
  [
    'a second fromForm in a class that extends another',
    () => {
      class Order extends dto({ one: fromForm(Line) }) {}
      class Late extends Order {
        two = new Line();
      }
      fromForm(Line)(Late.prototype, 'two');
      return Late;
    },
    /Late\.one and Late\.two are both fromForm/,
  ],
  [
    'formField beside fromForm',
    () => class Order extends dto({ all: fromForm(Line), one: formField(string) }) {},
    /Order\.one: formField cannot be combined with fromForm/,
  ],
  [
    'a file beside fromForm',
    () => class Order extends dto({ all: fromForm(Line), one: file }) {},
    /Order\.one: a file cannot be combined with fromForm, .*; declare it in the type of fromForm\./,
  ],
  ['a file as the body', () => class Order extends dto({ one: fromBody(file) }) {}, /Order\.one: it cannot be a file/],
  ['a file in a nested dto', () => class Order extends dto({ one: Photo }) {}, /Order\.one: it contains a file/],
  ['a file in fromBody', () => class Order extends dto({ one: fromBody(Album) }) {}, /Order\.one: it contains a file/],
  ['a file in a claim', () => class Order extends dto({ one: fromClaim(Photo) }) {}, /Order\.one: it contains a file/],
  ['a file in the items of a list dto', () => list(Photo), /Photo.* file/],
  [
    'fromForm in the items of a list dto',
    () => list(class Order extends dto({ one: fromForm(Line) }) {}),
    /Order\.one: fromForm binds only at the root/,
  ],
  [
    'a list of itself',
    () => class Order extends dto({ one: loop }) {},
    /Order\.one: this type contains itself and nothing else/,
  ],
])('%s is refused when the middleware is made', (_what, declare, message) => {
  expect(() => bindRequest(declare(), { allowFormData: true })).toThrow(TypeError);
  expect(() => bindRequest(declare(), { allowFormData: true })).toThrow(message);
});
