import {
  dto,
  fromClaim,
  fromCookie,
  fromHeader,
  fromQuery,
  int,
  list,
  nullable,
  optional,
  queryParam,
  type ParseResult,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

class Money {
  constructor(
    readonly cents: number,
    readonly currency: string,
  ) {}

  static tryParse(text: string | undefined): ParseResult<Money> {
    const [, amount, currency] = /^(\d+\.\d\d) ([A-Z]{3})$/.exec(text ?? '') ?? [];
    return amount !== undefined && currency !== undefined
      ? { success: true, value: new Money(Math.round(Number(amount) * 100), currency) }
      : { success: false };
  }
}

const price = new Money(1250, 'EUR');

it.each<[string, Sent]>([
  ['a query parameter', { path: '/?price=12.50+EUR' }],
  ['a route parameter', { path: '/12.50%20EUR' }],
  ['a form field', { form: [['price', '12.50 EUR']] }],
  ['JSON text', { json: { price: '12.50 EUR' } }],
])('a class with tryParse is read from %s', async (_source, sent) => {
  class Offer extends dto({ price: Money }) {}
  const { dto: bound } = await bind(Offer, sent, { route: '/{:price}', ...urlEncoded });
  expect(bound?.price).toBeInstanceOf(Money);
  expect(bound?.price).toEqual(price);
});

it('a class with tryParse is read from claims and headers, and as item of a list', async () => {
  class Offer extends dto({
    claimed: fromClaim(Money),
    header: fromHeader(Money, { name: 'X-Price' }),
    all: queryParam(list(Money)),
    none: optional(Money),
  }) {}
  const { dto: bound } = await bind(
    Offer,
    { path: '/?all=12.50+EUR,12.50+EUR&none=', headers: { 'X-Price': '12.50 EUR' } },
    { user: { claimed: '12.50 EUR' } },
  );
  expect(bound).toEqual({ claimed: price, header: price, all: [price, price] });
});

it.each<[string, Sent, string]>([
  ['in a query', { path: '/?price=12' }, 'The value "12" is not a Money.'],
  ['in JSON', { json: { price: '12' } }, 'The value "12" is not a Money.'],
  ['in JSON that is no text', { json: { price: 12 } }, 'The value 12 is not text that Money accepts; send a string.'],
])('text that it does not parse is a failure, %s', async (_where, sent, detail) => {
  class Offer extends dto({ price: Money }) {}
  const { status, errors } = await bind(Offer, sent);
  expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name: 'price', detail }] });
});

it('an object with tryParse is a type too', async () => {
  const even = {
    tryParse: (text: string | undefined): ParseResult<number> =>
      Number(text) % 2 === 0 ? { success: true, value: Number(text) } : { success: false },
  };
  class Even extends dto({ n: queryParam(even) }) {}
  expect((await bind(Even, { path: '/?n=4' })).dto).toEqual({ n: 4 });
  expect((await bind(Even, { path: '/?n=3' })).errors).toMatchObject([
    { name: 'n', detail: 'The value "3" is not a value.' },
  ]);
});

describe('a class with tryParse and declared properties', () => {
  class Price extends dto({ amount: int }) {
    static tryParse(text: string | undefined): ParseResult<Price> {
      return /^\d+$/.test(text ?? '')
        ? { success: true, value: Object.assign(new Price(), { amount: Number(text) }) }
        : { success: false };
    }
  }
  class Everywhere extends dto({
    query: queryParam(optional(Price)),
    nullable: queryParam(optional(nullable(Price))),
    all: queryParam(optional(list(Price))),
    header: fromHeader(optional(Price)),
    cookie: fromCookie(optional(Price)),
    body: optional(Price),
  }) {}
  const seven = Object.assign(new Price(), { amount: 7 });
  const json = '{"amount":7}';
  const encoded = encodeURIComponent(json);

  it.each<[string, Sent]>([
    ['query', { path: `/?query=${encoded}` }],
    ['nullable', { path: `/?nullable=%20${encoded}` }],
    ['header', { headers: { header: json } }],
    ['cookie', { headers: { Cookie: `cookie=${encoded}` } }],
    ['body', { form: [['body', json]] }],
    ['body', { json: { body: { amount: 7 } } }],
  ])('is read from a JSON object where it is text, too: %s, %j', async (name, sent) => {
    const { dto: bound } = await bind(Everywhere, sent, urlEncoded);
    expect(bound).toEqual({ [name]: seven });
    expect(Object(bound)[name]).toBeInstanceOf(Price);
  });

  it.each<[string, string]>([
    ['items with commas', '7,7'],
    ['JSON objects', `${encoded},${encoded}`],
  ])('is an item of a list: %s', async (_what, text) => {
    expect((await bind(Everywhere, { path: `/?all=${text}` })).dto).toEqual({ all: [seven, seven] });
  });

  it('is read from JSON below fromQuery', async () => {
    class Offer extends dto({ all: fromQuery(dto({ price: Price })) }) {}
    for (const text of ['7', encoded])
      expect((await bind(Offer, { path: `/?price=${text}` })).dto).toEqual({ all: { price: seven } });
  });

  it.each<[string, string, object]>([
    ['text', 'x', { name: 'query', detail: 'The value "x" is not a Price.' }],
    ['text in a brace', '{x', { name: 'query', detail: 'The value "{x" is not a Price.' }],
    ['a JSON object without the properties', '{}', { name: 'query.amount', in: 'query' }],
  ])('a failure says what is wrong with %s', async (_what, text, failure) => {
    expect((await bind(Everywhere, { path: `/?query=${text}` })).errors).toMatchObject([failure]);
  });

  it('its own text comes first', async () => {
    class Braced extends dto({ text: int }) {
      static tryParse = (text: string | undefined): ParseResult<Braced> => ({
        success: true,
        value: Object.assign(new Braced(), { text: text?.length }),
      });
    }
    class Outer extends dto({ v: queryParam(Braced) }) {}
    expect((await bind(Outer, { path: '/?v={"text":1}' })).dto).toEqual({ v: { text: 10 } });
  });
});
