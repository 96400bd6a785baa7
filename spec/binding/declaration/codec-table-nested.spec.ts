import { decimal, dto, field, fromClaim, fromHeader, int, list, optional, string } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class City extends dto({ name: field(string, { jsonPropertyName: 'city_name' }), zip: optional(int) }) {}
class Address extends dto({ street: string, city: City, tags: field(list(string), { default: [] }) }) {}
class Customer extends dto({ address: Address }) {}

const ADDRESS = { street: 'Elm', city: { city_name: 'X', zip: 7 } };
const BOUND = { street: 'Elm', city: { name: 'X', zip: 7 }, tags: [] };
const text = JSON.stringify(ADDRESS);

it.each<[string, Sent]>([
  ['the JSON body', { json: { address: ADDRESS } }],
  ['one query parameter', { method: 'GET', path: `/?address=${encodeURIComponent(text)}` }],
  ['one form field', { form: [['address', text]] }],
  ['one multipart field', { multipart: [['address', text]] }],
])('a nested dto is read from %s', async (_source, sent) => {
  const { dto: bound } = await bind(Customer, sent, urlEncoded);
  expect(bound).toEqual({ address: BOUND });
  expect([bound?.address, bound?.address.city].map(object => object?.constructor)).toEqual([Address, City]);
});

it('a nested dto is read from a claim (an object or JSON text) and from a header', async () => {
  class FromAll extends dto({
    a: fromClaim(Address),
    b: fromClaim(Address),
    c: fromHeader(Address, { name: 'X-Address' }),
  }) {}
  expect((await bind(FromAll, { headers: { 'X-Address': text } }, { user: { a: ADDRESS, b: text } })).dto).toEqual({
    a: BOUND,
    b: BOUND,
    c: BOUND,
  });
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

it.each(['{', '{"street":}', 'street', '[]', '"x"', ''])('one query parameter that is %j is refused', async sent => {
  const { status, errors } = await bind(Customer, { method: 'GET', path: `/?address=${encodeURIComponent(sent)}` });
  expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name: 'address', in: 'query' }] });
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

it('a required value is not found on a prototype', async () => {
  class Sneaky extends dto({
    inner: class Inner extends dto({ polluted: int, constructor: optional(int) }) {},
    price: optional(decimal),
  }) {}
  expect((await bind(Sneaky, { json: '{"inner":{"__proto__":{"polluted":1}}}' })).errors).toMatchObject([
    { name: 'inner.polluted', detail: 'A value is required.' },
  ]);
});

it('no default is shared by two requests', async () => {
  const first = await bind(Customer, { json: { address: ADDRESS } });
  first.dto?.address.tags.push('mine');
  expect((await bind(Customer, { json: { address: ADDRESS } })).dto?.address.tags).toEqual([]);
});
