import express from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';
import { decimal, dto, field, formField, fromBody, fromClaim, fromHeader, idempotency, int, list } from '../../../lib';
import { long, nullable, optional, plainText, queryParam, routeParam, string } from '../../../lib';
import type { AnyType } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, outcome } from '../../support/one-endpoint';

class City extends dto({ name: field(string, { jsonPropertyName: 'city_name' }), zip: optional(int) }) {}
class Address extends dto({ street: string, city: City, tags: field(list(string), { default: [] }) }) {}
class Customer extends dto({ address: Address }) {}
class Item extends dto({ sku: string, quantity: int }) {}
const ITEM = { sku: 'a', quantity: 1 };
const withType = (type: string, body: string | Buffer = JSON.stringify(ITEM)): Sent => ({
  body,
  headers: type === '' ? {} : { 'Content-Type': type },
});

it('objects bind to matching names, at every level; what is not declared is dropped, and prototypes are not changed', async () => {
  const json = `{"isAdmin":true,"__proto__":{"polluted":1},"address":{"isAdmin":true,"__proto__":{"street":"P","polluted":1},"constructor":{"prototype":{"polluted":1}},"street":"Elm","city":{"city_name":"X","name":"Y","__proto__":null}}}`;
  for (const Dto of [Customer, dto({ address: Address, price: optional(decimal) })]) {
    const { dto: bound } = await bind<typeof Customer>(Dto, { json });
    expect(bound).toEqual({ address: { street: 'Elm', city: { name: 'X' }, tags: [] } });
    expect([Object.keys(bound ?? {}), bound instanceof Dto]).toEqual([['address'], true]);
    expect([bound?.address.constructor, bound?.address.city.constructor]).toEqual([Address, City]);
  }
  expect('polluted' in {}).toBe(false);
});

it('failures are reported under the path, with a pointer into the JSON they came from (RFC 6901)', async () => {
  class Odd extends dto({ v: field(int, { jsonPropertyName: 'a/b~c' }), address: Address }) {}
  const address = { street: 1, city: { zip: 'x' }, tags: ['a', 2] };
  const { errors } = await bind(Odd, { json: { 'a/b~c': 'x', address } });
  const noInt = 'The value "x" is not a whole number from -2147483648 to 2147483647.';
  const nested = (source: string, below: string) => [
    { name: 'address.street', in: source, pointer: `${below}/street`, detail: 'The value 1 is not a string.' },
    { name: 'address.city.city_name', in: source, pointer: `${below}/city/city_name`, detail: 'A value is required.' },
    { name: 'address.city.zip', in: source, pointer: `${below}/city/zip`, detail: noInt },
    { name: 'address.tags[1]', in: source, pointer: `${below}/tags/1`, detail: 'The value 2 is not a string.' },
  ];
  expect(errors).toEqual(
    expect.arrayContaining([
      { name: 'a/b~c', in: 'json', pointer: '/a~1b~0c', detail: noInt },
      ...nested('json', '/address'),
    ]),
  );
  const path = `/?address=${encodeURIComponent(JSON.stringify(address))}`;
  expect((await bind(Customer, { method: 'GET', path })).errors).toEqual(nested('query', ''));
});

it.each<[AnyType, unknown, string]>([
  ...[[], 'x', 1, null, true].map((v): [AnyType, unknown, string] => [Address, v, 'object']),
  ...[{}, '1,2', 1, true].map((v): [AnyType, unknown, string] => [list(int), v, 'array']),
])('%#: an object is an object, and a list is an array: not %j', async (type, v, kind) => {
  const quoted = Array.isArray(v) ? '[…]' : typeof v === 'object' && v !== null ? '{…}' : JSON.stringify(v);
  expect(await outcome(dto({ v: type }), { json: { v } })).toEqual([
    `json v: The value ${quoted} is not a JSON ${kind}.`,
  ]);
  if (v === null) return;
  expect(await outcome(type, { json: JSON.stringify(v) })).toEqual([
    `json : The value ${quoted} is not a JSON ${kind}.`,
  ]);
});

it.each([
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/merge-patch+json',
  'application/vnd.shop.v1+json;charset="UTF-8"',
])('JSON is %s', async type => {
  expect(await outcome(Item, withType(type))).toEqual(ITEM);
  expect(await outcome(Item, withType(type, `\uFEFF${JSON.stringify(ITEM)}`))).toEqual(ITEM);
});

it.each(['null', '', ' \n', '{}'])('%j has no values; a dto that needs none binds', async json => {
  const Free = dto({ sku: optional(string), page: queryParam(int) });
  expect(await outcome(Free, { json, path: '/?page=2' })).toEqual({ page: 2 });
  const missing = ['json sku: A value is required.', 'json quantity: A value is required.'];
  expect(await outcome(Item, { json })).toEqual(missing);
});

it('two values of one name are ambiguous beside a type that keeps digits, even if no property has the name', async () => {
  class Exact extends dto({ a: int, total: optional(long) }) {}
  const { problem } = await bind(Exact, { json: '{"a":1,\n "other":1,"other":2}' });
  expect([problem?.type, problem?.detail]).toEqual([
    'urn:bindonce:body-malformed',
    'The body is ambiguous: an object has one name with two different values, the second at line 2, column 20. ' +
      'Send each name once.',
  ]);
  expect(await outcome(Exact, { json: '{"a":1,"other":1,"other":1}' })).toEqual({ a: 1 });
});

const nobody: readonly Sent[] = [{ method: 'GET' }, {}, { json: '' }, { json: 'null' }];

it.each(nobody)('a list that is the body is missing with %j: the failure points at the whole body', async sent => {
  const { errors } = await bind(list(Item), sent);
  expect(errors).toEqual([{ name: '', in: 'json', pointer: '', detail: 'A JSON body is required.' }]);
});

it('a list of a type takes an array of instances', async () => {
  const { dto: bound } = await bind(list(Item), { json: [ITEM, { ...ITEM, sku: 'b' }] });
  expect(bound).toEqual([ITEM, { ...ITEM, sku: 'b' }]);
  expect(bound?.every(one => one instanceof Item)).toBe(true);
});

describe('fromBody', () => {
  it('takes the body object at the root, and leaves it to no other property', async () => {
    class Move extends dto({ quantity: int, sku: optional(string), item: fromBody(Item) }) {}
    const { dto: bound } = await bind(Move, { json: ITEM, path: '/7' }, { route: '/:quantity' });
    expect(bound).toEqual({ quantity: 7, item: ITEM });
    expect(bound?.item).toBeInstanceOf(Item);
  });

  it.each<[string, AnyType, unknown]>([
    ['a list', optional(list(int)), [1]],
    ['a schema', optional(z.object({ a: z.number() })), { a: 1 }],
  ])('of %s that is optional is undefined, and no key of a dto, without a body', async (_what, type, value) => {
    const Whole = dto({ all: fromBody(type) });
    for (const sent of nobody) {
      expect(await bind<AnyType>(type, sent)).toMatchObject({ status: 200, dto: undefined });
      expect(Object.keys((await outcome(Whole, sent)) as object)).toEqual([]);
    }
    expect([await outcome(type, { json: value }), await outcome(Whole, { json: value })]).toEqual([
      value,
      { all: value },
    ]);
    for (const Dto of [type, Whole]) expect((await bind(Dto, { json: 'true' })).status).toBe(400);
  });

  it('that is nullable takes null, that is optional is missing then', async () => {
    for (const json of ['null', ''])
      expect(await outcome(dto({ all: fromBody(optional(Item)) }), { json })).toEqual({});
    expect(await outcome(dto({ all: fromBody(nullable(Item)) }), { json: 'null' })).toEqual({ all: null });
  });
});

describe('plainText', () => {
  class Note extends dto({
    text: plainText(),
    id: routeParam(int),
    page: int,
    tenant: fromHeader(string),
    author: fromClaim(string),
    tag: optional(string),
  }) {}
  const options = { route: '/:id', user: { author: 'ada' } };
  const bound = { id: 7, page: 2, tenant: 'acme', author: 'ada' };

  it.each(['text/plain', 'application/json', 'application/xml', 'text/csv; charset=utf-8', ''])(
    'takes the text of the body, of the type %j; route, query, header and claim bind',
    async type => {
      const text = '{"id": 8, "tag": "json"}  é\n';
      const { headers } = withType(type);
      const sent = { body: text, path: '/7?page=2', headers: { ...headers, Tenant: 'acme' } };
      expect(await outcome(Note, sent, options)).toEqual({ ...bound, text });
      expect(await outcome(Note, sent, { ...options, jsonTypes: ['text/plain'] })).toEqual({ ...bound, text });
    },
  );

  it('stands beside form fields, is required, bounded, and must be UTF-8', async () => {
    class Tagged extends dto({ text: plainText(), tag: formField(string) }) {}
    expect(await outcome(Tagged, { form: 'tag=form' })).toEqual({ text: 'tag=form', tag: 'form' });
    const Text = dto({ text: plainText() });
    expect(await outcome(Text)).toEqual(['body text: A value is required.']);
    expect(await outcome(Text, { body: 'x'.repeat(11) }, { limits: { bodyBytes: 10 } })).toBe(413);
    expect(await outcome(Text, { body: Buffer.from([0xff, 0xfe]) })).toBe(400);
  });
});

it.each(['\u00a0', '\v', '\f', '\u2003\n', '\u2028'])(
  'the text %j is malformed: these are no blanks of JSON (RFC 8259, section 2)',
  async json => {
    for (const Dto of [dto({ v: optional(string) }), dto({ n: optional(long) })])
      for (const before of [[], [idempotency({ store: new Keyv() })], [express.text({ type: '*/*' })]])
        expect(await outcome(Dto, { json, key: 'k' }, { before })).toBe(400);
  },
);
