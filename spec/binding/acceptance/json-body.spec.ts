import express from 'express';
import {
  bindRequest,
  configure,
  dto,
  field,
  formField,
  fromBody,
  fromClaim,
  fromHeader,
  int,
  list,
  optional,
  plainText,
  routeParam,
  string,
  type JsonConverter,
  type BindingOptions,
} from '../../../lib';
import { ask } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Address extends dto({ street: string, city: string }) {}
class Customer extends dto({ name: string, age: int, address: optional(Address) }) {}

const ADDRESS = { street: 'Ringstr. 1', city: 'Bonn' };

it('an application/json body is bound by matching property names', async () => {
  const { dto: bound } = await bind(Customer, { json: { age: 36, name: 'Ada', height: 170 } });
  expect(bound).toBeInstanceOf(Customer);
  expect(bound).toEqual({ name: 'Ada', age: 36 });
});

it('nested objects bind to complex-typed properties with matching names', async () => {
  const { dto: bound } = await bind(Customer, { json: { name: 'Ada', age: 36, address: ADDRESS } });
  expect(bound?.address).toBeInstanceOf(Address);
  expect(bound).toEqual({ name: 'Ada', age: 36, address: ADDRESS });
});

it('where the dto is a list of a type, the body is a JSON array', async () => {
  const { dto: bound } = await bind(list(Address), { json: [ADDRESS, { ...ADDRESS, city: 'Kiel' }] });
  expect(bound).toEqual([ADDRESS, { ...ADDRESS, city: 'Kiel' }]);
  expect(bound?.every(one => one instanceof Address)).toBe(true);
});

it.each([
  ['a list', list(Address), ADDRESS],
  ['an object', Address, [ADDRESS]],
])('where the dto is %s, the other kind of body is refused', async (_what, Dto, json) => {
  expect(await bind(Dto, { json })).toMatchObject({
    status: 400,
    dto: undefined,
    errors: [{ in: 'json', pointer: '' }],
  });
});

class Move extends dto({ id: int, street: optional(string), address: fromBody(Address) }) {}

it('with fromBody on a property, the body object at the root binds to that property, and to no other', async () => {
  const { dto: bound } = await bind(Move, { json: { ...ADDRESS, id: 8 }, path: '/7' }, { route: '/:id' });
  expect(bound).toEqual({ id: 7, address: ADDRESS });
  expect(bound?.address).toBeInstanceOf(Address);
});

class Payment extends dto({ iban: field(string, { jsonPropertyName: 'account_no' }), amountDue: int }) {}

it('jsonPropertyName maps a differing JSON field name to a property', async () => {
  expect((await bind(Payment, { json: { account_no: 'DE1', iban: 'DE2', amountDue: 5 } })).dto).toEqual({
    iban: 'DE1',
    amountDue: 5,
  });
});

describe('casing', () => {
  class Pascal extends dto({ AmountDue: int, IBAN: string }) {}
  const value = Object.assign(new Pascal(), { AmountDue: 5, IBAN: 'DE1' });
  const echo = (binding: BindingOptions<Pascal>) =>
    express().post('/', bindRequest(Pascal, { responses: { 200: Pascal }, ...binding }), (req, res) => {
      res.json(req.dto);
    });

  it.each([
    ['camel case by default', {}, { amountDue: 5, iban: 'DE1' }],
    ['the case that is configured', { propertyNamingPolicy: 'kebab-case' }, { 'amount-due': 5, iban: 'DE1' }],
    [
      'what a function makes of them',
      { propertyNamingPolicy: (name: string) => `_${name}` },
      { _AmountDue: 5, _IBAN: 'DE1' },
    ],
  ] as const)('names are read and written in %s', async (_casing, options, json) => {
    expect((await bind(Pascal, { json }, options)).dto).toEqual(value);
    expect((await ask(echo(options), { json })).body).toEqual(json);
  });
});

/** A type that JSON knows nothing of. */
class Money {
  constructor(readonly cents: number) {}
}

const moneyAsText: JsonConverter<Money> = {
  type: Money,
  read: json =>
    typeof json === 'string' && /^\d+\.\d\d$/.test(json)
      ? { success: true, value: new Money(Math.round(Number(json) * 100)) }
      : { success: false },
  write: ({ cents }) => (cents / 100).toFixed(2),
};

class Offer extends dto({ price: Money, was: list(Money) }) {}

const json = { price: '1.50', was: ['2.00', '1.80'] };
const { bindRequest: bindConfigured } = configure({ binding: { converters: [moneyAsText] } });

it('a converter that is given at startup reads and writes its type', async () => {
  let seen: unknown;
  const app = express().post('/', bindConfigured(Offer, { responses: { 200: Offer } }), (req, res) => {
    seen = req.dto;
    res.json(req.dto);
  });
  expect((await ask(app, { json })).body).toEqual(json);
  expect(seen).toEqual({ price: new Money(150), was: [new Money(200), new Money(180)] });
});

it('a value that a converter does not accept is a failure', async () => {
  expect(
    (await bind(Offer, { json: { ...json, price: 'cheap' } }, { converters: [moneyAsText] })).errors,
  ).toMatchObject([{ name: 'price', pointer: '/price', detail: 'The value "cheap" is not a Money.' }]);
});

it('a type that cannot be read needs a converter', () => {
  expect(() => bindRequest(Offer)).toThrow(/Offer\.price: Money/);
  expect(() => bindConfigured(Offer)).not.toThrow();
});

class Note extends dto({
  text: plainText(),
  id: routeParam(int),
  page: int,
  tenant: fromHeader(string),
  author: fromClaim(string),
  tag: optional(string),
}) {}

const elsewhere = { path: '/7?page=2', headers: { Tenant: 'acme', 'Content-Type': 'application/json' } };
const options = { route: '/:id', user: { author: 'ada' } };
const bound = { id: 7, page: 2, tenant: 'acme', author: 'ada' };

it.each(['{"id": 8, "tag": "json"}\n', 'no { JSON'])(
  'plainText skips JSON binding and receives the raw body text %j; route, query, header and claim bind',
  async body => {
    expect((await bind(Note, { ...elsewhere, body }, options)).dto).toEqual({ ...bound, text: body });
  },
);

it('beside plainText, other properties bind from form fields', async () => {
  class Tagged extends dto({ text: plainText(), tag: formField(string) }) {}
  expect((await bind(Tagged, { form: 'tag=form' }, urlEncoded)).dto).toEqual({ text: 'tag=form', tag: 'form' });
});
