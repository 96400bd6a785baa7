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
  queryParam,
  routeParam,
  serializerContext,
  string,
  type JsonConverter,
  type BindingOptions,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Address extends dto({ street: string, city: string }) {}
class Customer extends dto({ name: string, age: int, address: optional(Address) }) {}
class DecoratedAddress {
  @field(string) street!: string;
  @field(string) city!: string;
}
class DecoratedCustomer {
  @field(string) name!: string;
  @field(int) age!: number;
  @field(optional(DecoratedAddress)) address?: DecoratedAddress;
}

const ADDRESS = { street: 'Ringstr. 1', city: 'Bonn' };
const notations = [
  ['dto({...})', Customer, Address],
  ['decorators', DecoratedCustomer, DecoratedAddress],
] as const;

describe.each(notations)('%s', (_notation, Dto, Nested) => {
  it('an application/json body is bound by matching property names', async () => {
    const { dto: bound } = await bind(Dto, { json: { age: 36, name: 'Ada', height: 170 } });
    expect(bound).toBeInstanceOf(Dto);
    expect(bound).toEqual({ name: 'Ada', age: 36 });
  });

  it('nested objects bind to complex-typed properties with matching names', async () => {
    const { dto: bound } = await bind(Dto, { json: { name: 'Ada', age: 36, address: ADDRESS } });
    expect(bound?.address).toBeInstanceOf(Nested);
    expect(bound).toEqual({ name: 'Ada', age: 36, address: ADDRESS });
  });

  it('where the dto is a list of a type, the body is a JSON array', async () => {
    const { dto: bound } = await bind(list(Nested), { json: [ADDRESS, { ...ADDRESS, city: 'Kiel' }] });
    expect(bound).toEqual([ADDRESS, { ...ADDRESS, city: 'Kiel' }]);
    expect(bound?.every(one => one instanceof Nested)).toBe(true);
  });
});

it.each<[string, Sent]>([
  ['an application/xml body', { body: '<age>36</age>', headers: { 'Content-Type': 'application/xml' } }],
  ['a body without a content type', { body: '{"name":"Ada","age":36}' }],
])('%s is not a JSON body', async (_what, sent) => {
  expect(await bind(Customer, sent)).toMatchObject({ status: 415, dto: undefined });
});

it('an invalid nested value is reported by its path', async () => {
  expect(
    (await bind(Customer, { json: { name: 'Ada', age: 36, address: { street: 1, city: 'Bonn' } } })).errors,
  ).toMatchObject([{ name: 'address.street', pointer: '/address/street' }]);
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
class DecoratedMove {
  @field(int) id!: number;
  @field(optional(string)) street?: string;
  @fromBody(DecoratedAddress) address!: DecoratedAddress;
}

it.each([
  ['dto({...})', Move, Address],
  ['decorators', DecoratedMove, DecoratedAddress],
])(
  'with fromBody on a property, the body object at the root binds to that property, and to no other: %s',
  async (_notation, Dto, Nested) => {
    const { dto: bound } = await bind(Dto, { json: { ...ADDRESS, id: 8 }, path: '/7' }, { route: '/:id' });
    expect(bound).toEqual({ id: 7, address: ADDRESS });
    expect(bound?.address).toBeInstanceOf(Nested);
  },
);

it('fromBody takes the root of the body, not a field named like its property', async () => {
  expect(
    (await bind(Move, { json: { address: ADDRESS }, path: '/7' }, { route: '/:id' })).errors.map(({ name }) => name),
  ).toEqual(['street', 'city']);
});

class Payment extends dto({ iban: field(string, { jsonPropertyName: 'account_no' }), amountDue: int }) {}
class DecoratedPayment {
  @field(string, { jsonPropertyName: 'account_no' }) iban!: string;
  @field(int) amountDue!: number;
}

describe.each([
  ['dto({...})', Payment],
  ['decorators', DecoratedPayment],
])('%s', (_notation, Dto) => {
  it('jsonPropertyName maps a differing JSON field name to a property', async () => {
    expect((await bind(Dto, { json: { account_no: 'DE1', iban: 'DE2', amountDue: 5 } })).dto).toEqual({
      iban: 'DE1',
      amountDue: 5,
    });
  });

  it('a naming policy is set for the whole project, and leaves names that are given', async () => {
    const { bindRequest: bindConfigured } = configure({ binding: { propertyNamingPolicy: 'snake_case' } });
    const app = express().post('/', bindConfigured(Dto), (req, res) => {
      res.json([req.dto.iban, req.dto.amountDue]);
    });
    expect((await ask(app, { json: { account_no: 'DE1', amount_due: 5, amountDue: 6 } })).body).toEqual(['DE1', 5]);
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

  it('a name in another casing is another name', async () => {
    expect((await bind(Pascal, { json: value })).errors.map(({ pointer }) => pointer)).toEqual(['/amountDue', '/iban']);
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
class DecoratedOffer {
  @field(Money) price!: Money;
  @field(list(Money)) was!: Money[];
}

describe.each([
  ['dto({...})', Offer],
  ['decorators', DecoratedOffer],
])('%s', (_notation, Dto) => {
  const json = { price: '1.50', was: ['2.00', '1.80'] };
  const { bindRequest: bindConfigured } = configure({ binding: { converters: [moneyAsText] } });

  it('a converter that is given at startup reads and writes its type', async () => {
    let seen: unknown;
    const app = express().post('/', bindConfigured(Dto, { responses: { 200: Dto } }), (req, res) => {
      seen = req.dto;
      res.json(req.dto);
    });
    expect((await ask(app, { json })).body).toEqual(json);
    expect(seen).toEqual({ price: new Money(150), was: [new Money(200), new Money(180)] });
  });

  it('a value that a converter does not accept is a failure', async () => {
    expect(
      (await bind(Dto, { json: { ...json, price: 'cheap' } }, { converters: [moneyAsText] })).errors,
    ).toMatchObject([{ name: 'price', pointer: '/price', detail: 'The value "cheap" is not a Money.' }]);
  });

  it('a type that cannot be read needs a converter', () => {
    expect(() => bindRequest(Dto)).toThrow(/Offer\.price: Money/);
    expect(() => bindConfigured(Dto)).not.toThrow();
  });
});

describe('serializer contexts', () => {
  class Command extends dto({ unitPrice: Money, itemCount: int }) {}
  class Receipt extends dto({ totalPrice: Money }) {}
  const context = serializerContext({
    request: Command,
    responses: { 201: Receipt },
    propertyNamingPolicy: 'snake_case',
    converters: [moneyAsText],
  });

  it('without a context, a type that cannot be read or written is refused when the middleware is made', () => {
    expect(() => bindRequest(Command)).toThrow(/Command\.unitPrice/);
    expect(() => bindRequest(dto({ id: int }), { responses: { 201: Receipt } })).toThrow(/Receipt\.totalPrice/);
  });

  it('an endpoint names a context, which lists the types of its request and responses', async () => {
    const app = express().post('/', bindRequest(Command, { serializerContext: context }), (req, res) => {
      const { unitPrice, itemCount } = req.dto;
      res.status(201).json({ totalPrice: new Money(unitPrice.cents * itemCount), secret: 'x' });
    });
    const { status, body } = await ask(app, { json: { unit_price: '1.50', item_count: 3 } });
    expect([status, body]).toEqual([201, { total_price: '4.50' }]);
  });

  it('options that a context does not have are those of configure()', async () => {
    const { bindRequest: bindConfigured } = configure({
      binding: { propertyNamingPolicy: 'PascalCase', converters: [moneyAsText] },
    });
    const bare = serializerContext({ request: Receipt, responses: { 200: Receipt }, converters: [moneyAsText] });
    const app = express().post('/', bindConfigured(Receipt, { serializerContext: bare }), (req, res) => {
      res.json(req.dto);
    });
    expect((await ask(app, { json: { TotalPrice: '1.00' } })).body).toEqual({ TotalPrice: '1.00' });
  });

  it('a context for another request type is refused', () => {
    expect(() => bindRequest(Receipt, { serializerContext: context, converters: [moneyAsText] })).toThrow(
      /^bindRequest: the serializerContext reads .+, but this endpoint binds Receipt\./,
    );
  });
});

class Note extends dto({
  text: plainText(),
  id: routeParam(int),
  page: int,
  tenant: fromHeader(string),
  author: fromClaim(string),
  tag: optional(string),
}) {}
class DecoratedNote {
  @plainText() text!: string;
  @routeParam(int) id!: number;
  @queryParam(int) page!: number;
  @fromHeader(string) tenant!: string;
  @fromClaim(string) author!: string;
  @field(optional(string)) tag?: string;
}

describe.each([
  ['dto({...})', Note],
  ['decorators', DecoratedNote],
])('%s', (_notation, Dto) => {
  const elsewhere = { path: '/7?page=2', headers: { Tenant: 'acme', 'Content-Type': 'application/json' } };
  const options = { route: '/:id', user: { author: 'ada' } };
  const bound = { id: 7, page: 2, tenant: 'acme', author: 'ada' };

  it.each(['{"id": 8, "tag": "json"}\n', 'no { JSON'])(
    'plainText skips JSON binding and receives the raw body text %j; route, query, header and claim bind',
    async body => {
      expect((await bind(Dto, { ...elsewhere, body }, options)).dto).toEqual({ ...bound, text: body });
    },
  );
});

it('beside plainText, other properties bind from form fields', async () => {
  class Tagged extends dto({ text: plainText(), tag: formField(string) }) {}
  expect((await bind(Tagged, { form: 'tag=form' }, urlEncoded)).dto).toEqual({ text: 'tag=form', tag: 'form' });
});
