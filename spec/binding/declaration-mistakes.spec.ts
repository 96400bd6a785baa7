import { bindRequest, bool, configure, dto, field, file, formField, fromBody, fromClaim, fromHeader, hasPermission, int, list, plainText, queryParam, routeParam, string, type AnyType, type BindingOptions, type Source } from '../../lib';

class Line extends dto({ sku: string }) {}
class Named extends dto({ sku: string }) {}
class NotADto { a = 1; }

it.each<[string, () => AnyType, RegExp]>([
  ['two fromBody', () => class Order extends dto({ one: fromBody(Line), two: fromBody(Line) }) {}, /Order\.one and Order\.two are both fromBody/],
  ['two plainText', () => class Order extends dto({ one: plainText(), two: plainText() }) {}, /Order\.one and Order\.two are both plainText/],
  ['fromBody and plainText', () => class Order extends dto({ one: fromBody(Line), two: plainText() }) {}, /Order has both fromBody and plainText/],
  ['a class without declared properties', () => NotADto, /NotADto has no declared properties/],
  ['an empty dto', () => class Empty extends dto({}) {}, /Empty has no declared properties/],
  ['a scalar', () => int, /int cannot be the dto of a request/],
  ['a file', () => file, /file cannot be the dto of a request/],
  ['nothing', () => undefined as unknown as AnyType, /undefined is not a type/],
  ['a list of something that is no type', () => list(undefined as unknown as AnyType), /undefined is not a type/],
  ['a nested dto with a query parameter', () => class Order extends dto({ line: class Inner extends dto({ page: queryParam(int) }) {} }) {}, /Inner\.page: queryParam binds only at the root/],
  ['a nested dto with a claim, in a list', () => class Order extends dto({ lines: list(class Inner extends dto({ who: fromClaim(string) }) {}) }) {}, /Inner\.who: fromClaim binds only at the root/],
  ['a root list whose items have a header', () => list(class Inner extends dto({ h: fromHeader(string) }) {}), /Inner\.h: fromHeader binds only at the root/],
  ['a permission without a name', () => class Order extends dto({ may: hasPermission('') }) {}, /hasPermission: name the permission/],
])('%s is refused when the middleware is made', (_what, declare, message) => {
  expect(() => bindRequest(declare())).toThrow(TypeError);
  expect(() => bindRequest(declare())).toThrow(message);
});

it.each<[string, () => AnyType]>([
  ['a source that is none', () => class Order extends dto({ rush: field(bool, { dontBind: ['body' as Source] }) }) {}],
  ['a file from the query', () => class Order extends dto({ rush: queryParam(file) }) {}],
  ['a file from the route', () => class Order extends dto({ rush: routeParam(file) }) {}],
  ['files from a header', () => class Order extends dto({ rush: fromHeader(list(file)) }) {}],
  ['a file as the whole body', () => class Order extends dto({ rush: fromBody(file) }) {}],
  ['a file that no form may bring', () => class Order extends dto({ rush: field(file, { dontBind: ['form'] }) }) {}],
  ['a required value that no source may bring', () => class Order extends dto({ rush: field(bool, { dontBind: ['json', 'form', 'route', 'query'] }) }) {}],
])('%s is refused when the middleware is made, and the property is named', (_what, declare) => {
  expect(() => bindRequest(declare())).toThrow(/rush/);
});

it('what can work is accepted', () => {
  class Fine extends dto({ a: formField(file), b: field(list(file)), c: field(bool, { dontBind: ['json', 'form', 'route', 'query'], required: false }), d: fromBody(Line), e: fromHeader(list(Named)) }) {}
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
    [{ claims: {} }, 'claims must be a function, not an object'],
    [{ permissions: ['a'] }, 'permissions must be a function, not an array'],
    [{ limits: 5 }, 'limits must be an object, not 5'],
    [{ uploads: 'disk' }, 'uploads must be { storage, directory } or a Multer, not "disk"'],
    [{ uploads: { storage: 'cloud' } }, 'bindRequest: uploads: storage must be "memory" or "disk", not "cloud"'],
    [{ uploads: { storage: 'disk', dir: '/x' } }, 'there is no option "dir"'],
    [{ uploads: { directory: '' } }, 'directory must be a path, not ""'],
    [{ zzz: 1 }, 'there is no option "zzz"; there are: allowFormData, allowAnonymous'],
  ])('%j is refused when the middleware is made', (options, message) => {
    expect(make(options)).toThrow(TypeError);
    expect(make(options)).toThrow(message);
  });

  it('configure() checks its defaults when it is called', () => {
    expect(() => configure({ binding: { allowAnonymos: false } as BindingOptions })).toThrow('there is no option "allowAnonymos"; did you mean "allowAnonymous"?');
  });
});
