import { z } from 'zod';
import {
  decimal,
  dto,
  field,
  formField,
  int,
  list,
  oneOf,
  optional,
  queryParam,
  record,
  string,
  type AnyType,
} from '../../../lib';
import { bind, urlEncoded } from '../../support/one-endpoint';

class City extends dto({ name: field(string, { jsonPropertyName: 'city_name' }), zip: optional(int) }) {}
class Address extends dto({ street: string, city: City, tags: field(list(string), { default: [] }) }) {}
class Customer extends dto({ address: Address }) {}

class Point extends dto({ x: int, y: optional(int) }) {}
class Box extends dto({ city: string, at: optional(Point), floors: optional(list(int)) }) {}
const Either = oneOf('kind', { box: Box, point: Point });

it.each<[string, AnyType, string, unknown]>([
  ['an object', optional(Box), 'v[city]=Oslo', { city: 'Oslo' }],
  ['an object, by a dot, in any case', optional(Box), 'V.City=Oslo', { city: 'Oslo' }],
  [
    'objects in it, and lists',
    Box,
    'v[city]=Oslo&v[at][x]=1&v[floors][]=1&v[floors][]=2',
    { city: 'Oslo', at: { x: 1 }, floors: [1, 2] },
  ],
  ['an object in it that is JSON', Box, 'v[city]=Oslo&v[at]={"x":1}', { city: 'Oslo', at: { x: 1 } }],
  ['a list of objects', list(Point), 'v[0][x]=1&v[1][x]=2', [{ x: 1 }, { x: 2 }]],
  ['a record', record(int), 'v[red]=1&v[blue]=2', { red: 1, blue: 2 }],
  ['a record of names with dots in brackets', record(int), 'v[ann@x.com]=1&v[a.b]=2', { 'ann@x.com': 1, 'a.b': 2 }],
  ['one of several classes', Either, 'v[kind]=point&v[x]=1', { kind: 'point', x: 1 }],
  ['a schema', z.object({ a: z.string() }), 'v[a]=b', { a: 'b' }],
  ['one text, whatever is below it', string, 'v=a&v[b]=c', 'a'],
  ['nothing, where no name is one of its own', optional(Box), 'v[town]=Oslo', undefined],
  ['no object that is required, where no name is its own', Box, 'v[town]=Oslo', 'A value is required.'],
  ['no list that is required, under names that are no items', list(int), 'v[a]=1', 'A value is required.'],
  ['no object without what it must have', optional(Box), 'v[at][x]=1', 'A value is required.'],
])('names below one name of a query or form are %s', async (_what, type, sent, expected) => {
  const encoded = encodeURI(sent).replaceAll('[', '%5B').replaceAll(']', '%5D');
  const answers = [
    await bind(dto({ v: queryParam(type) }), { method: 'GET', path: `/?${encoded}` }),
    await bind(dto({ v: formField(type) }), { form: encoded }, urlEncoded),
    await bind(dto({ v: type }), { path: `/?${encoded}` }),
  ];
  for (const { dto: bound, errors } of answers)
    expect(bound ? (bound as { v?: unknown }).v : errors[0]?.detail.replace(/^This .* is/, 'A value is')).toEqual(
      expected,
    );
});

it('failures are reported under the path, with a pointer into the JSON they came from', async () => {
  const address = { street: 1, city: { zip: 'x' }, tags: ['a', 2] };
  const failures = (source: string, pointer: string) => [
    { name: 'address.street', in: source, pointer: `${pointer}/street`, detail: 'The value 1 is not a string.' },
    {
      name: 'address.city.city_name',
      in: source,
      pointer: `${pointer}/city/city_name`,
      detail: 'A value is required.',
    },
    {
      name: 'address.city.zip',
      in: source,
      pointer: `${pointer}/city/zip`,
      detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
    },
    { name: 'address.tags[1]', in: source, pointer: `${pointer}/tags/1`, detail: 'The value 2 is not a string.' },
  ];
  expect((await bind(Customer, { json: { address } })).errors).toEqual(failures('json', '/address'));
  expect(
    (await bind(Customer, { method: 'GET', path: `/?address=${encodeURIComponent(JSON.stringify(address))}` })).errors,
  ).toEqual(failures('query', ''));
});

it('`~` and `/` in a name are escaped in the pointer (RFC 6901)', async () => {
  class Odd extends dto({ v: field(int, { jsonPropertyName: 'a/b~c' }) }) {}
  expect((await bind(Odd, { json: { 'a/b~c': 'x' } })).errors).toMatchObject([{ name: 'a/b~c', pointer: '/a~1b~0c' }]);
});

it.each([
  [[], '[…]'],
  ['x', '"x"'],
  [1, '1'],
  [null, 'null'],
  [true, 'true'],
])('an object is an object: not %j', async (address, quoted) => {
  expect((await bind(Customer, { json: { address } })).errors).toEqual([
    { name: 'address', in: 'json', pointer: '/address', detail: `The value ${quoted} is not a JSON object.` },
  ]);
});

it('undeclared fields are dropped at every level, and prototypes are not changed', async () => {
  const json = `{"isAdmin":true,"__proto__":{"polluted":1},"address":{"isAdmin":true,"__proto__":{"street":"P","polluted":1},"constructor":{"prototype":{"polluted":1}},"street":"Elm","city":{"city_name":"X","__proto__":null}}}`;
  class WithDecimal extends dto({ address: Address, price: optional(decimal) }) {}
  for (const Dto of [Customer, WithDecimal]) {
    const { dto: bound } = await bind(Dto, { json });
    expect(bound).toEqual({ address: { street: 'Elm', city: { name: 'X' }, tags: [] } });
    expect(Object.keys(bound ?? {})).toEqual(['address']);
    expect(Object.getPrototypeOf(bound?.address)).toBe(Address.prototype);
  }
  expect('polluted' in {}).toBe(false);
});
