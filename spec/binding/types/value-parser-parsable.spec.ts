import { dto, int, list, optional, queryParam, type ParseResult } from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

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

it.each<[string, Sent, string]>([
  ['in a query', { path: '/?price=12' }, 'The value "12" is not a Money.'],
  ['in JSON', { json: { price: '12' } }, 'The value "12" is not a Money.'],
  ['in JSON that is no text', { json: { price: 12 } }, 'The value 12 is not text that Money accepts; send a string.'],
])('text that it does not parse is a failure, %s', async (_where, sent, detail) => {
  class Offer extends dto({ price: Money }) {}
  const { status, errors } = await bind(Offer, sent);
  expect({ status, errors }).toMatchObject({ status: 400, errors: [{ name: 'price', detail }] });
});

describe('a class with tryParse and declared properties', () => {
  class Price extends dto({ amount: int }) {
    static tryParse(text: string | undefined): ParseResult<Price> {
      return /^\d+$/.test(text ?? '')
        ? { success: true, value: Object.assign(new Price(), { amount: Number(text) }) }
        : { success: false };
    }
  }
  class Everywhere extends dto({ query: queryParam(optional(list(Price))), body: optional(Price) }) {}
  const seven = Object.assign(new Price(), { amount: 7 });

  it.each<[string, Sent, object]>([
    ['text', { path: '/?query=7,7' }, { query: [seven, seven] }],
    ['text in JSON', { json: { body: '7' } }, { body: seven }],
    ['an object in JSON', { json: { body: { amount: 7 } } }, { body: seven }],
  ])('is read from %s', async (_what, sent, value) => {
    expect((await bind(Everywhere, sent)).dto).toEqual(value);
  });

  it('is refused as text or as an object', async () => {
    const names = async (sent: Sent) => (await bind(Everywhere, sent)).errors.map(({ name }) => name);
    expect([await names({ path: '/?query=x' }), await names({ json: { body: {} } })]).toEqual([
      ['query'],
      ['body.amount'],
    ]);
  });
});
