import express from 'express';
import { z } from 'zod';
import {
  bindRequest,
  dateTime,
  dto,
  fromBody,
  fromClaim,
  fromHeader,
  fromQuery,
  int,
  list,
  queryParam,
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type JsonConverter,
  type ParseResult,
} from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** Nothing is declared about it: its JSON is `{ "amount": "12.50" }`, or text. */
class Money {
  constructor(readonly cents: number) {}
}
class Code {
  constructor(readonly text: string) {}
  static tryParse(text: string | undefined): ParseResult<Code> {
    return text === undefined ? { success: false } : { success: true, value: new Code(text) };
  }
}
class Point extends dto({ x: int, y: int }) {}

const success = <T>(value: T): ParseResult<T> => ({ success: true, value });
const failure: ParseResult<never> = { success: false };

const money: JsonConverter<Money> = {
  type: Money,
  read(json) {
    const amount = typeof json === 'string' ? json : (json as { amount?: unknown } | null)?.amount;
    return typeof amount === 'string' && /^\d+\.\d\d$/.test(amount)
      ? success(new Money(Math.round(Number(amount) * 100)))
      : failure;
  },
  write: ({ cents }) => ({ amount: (cents / 100).toFixed(2) }),
};
const sent = { amount: '12.50' };
const price = new Money(1250);
const converters = [money];
const written = encodeURIComponent(JSON.stringify(sent));

describe('a class about which nothing is declared', () => {
  class Inner extends dto({ price: Money }) {}

  it.each<[string, AnyType, Sent, unknown]>([
    ['a property', class extends dto({ price: Money }) {}, { json: { price: sent } }, { price }],
    ['a list', class extends dto({ all: list(Money) }) {}, { json: { all: [sent, '12.50'] } }, { all: [price, price] }],
    ['a nested dto', class extends dto({ in: Inner }) {}, { json: { in: { price: sent } } }, { in: { price } }],
    ['fromBody', class extends dto({ price: fromBody(Money) }) {}, { json: sent }, { price }],
    ['a list that is the whole body', list(Money), { json: [sent] }, [price]],
    ['a claim', class extends dto({ price: fromClaim(Money, { name: 'sub' }) }) {}, {}, { price }],
    [
      'JSON text in a query',
      class extends dto({ price: queryParam(Money) }) {},
      { path: `/?price=${written}` },
      { price },
    ],
    [
      'other text in a query, like a JSON string',
      class extends dto({ price: queryParam(Money) }) {},
      { path: '/?price=12.50' },
      { price },
    ],
    [
      'a list in a query',
      class extends dto({ all: queryParam(list(Money)) }) {},
      { path: `/?all=[${written}]` },
      { all: [price] },
    ],
    [
      'a header',
      class extends dto({ price: fromHeader(Money) }) {},
      { headers: { price: JSON.stringify(sent) } },
      { price },
    ],
    [
      'a nested name of a query',
      class extends dto({ all: fromQuery(Inner) }) {},
      { path: '/?price=12.50' },
      { all: { price } },
    ],
  ])('is read by its converter: %s', async (_where, Dto, request, value) => {
    const { dto: bound, errors } = await bind(Dto, request, { converters, user: { sub: sent } });
    expect([bound, errors]).toEqual([value, []]);
  });
});

describe("a converter takes precedence over the type's own reading and writing", () => {
  const email = z.email();

  it.each<[string, AnyType, JsonConverter, unknown, unknown]>([
    [
      'dateTime',
      dateTime,
      {
        type: dateTime,
        read: json => (typeof json === 'number' ? success(new Date(json)) : failure),
        write: (date: Date) => date.getTime(),
      },
      1_000,
      new Date(1_000),
    ],
    ['int', int, { type: int, read: json => success(Number(json)), write: String }, '7', 7],
    [
      'tryParse',
      Code,
      {
        type: Code,
        read: json => success(new Code(`<${String(json)}>`)),
        write: (code: Code) => code.text.slice(1, -1),
      },
      'x',
      new Code('<x>'),
    ],
    [
      'a dto',
      Point,
      {
        type: Point,
        read: json =>
          Array.isArray(json)
            ? success(Object.assign(new Point(), { x: json[0] as number, y: json[1] as number }))
            : failure,
        write: ({ x, y }: Point) => [x, y],
      },
      [1, 2],
      { x: 1, y: 2 },
    ],
    [
      'a schema',
      email,
      {
        type: email,
        read: json => success(`${String(json)}@example.org`),
        write: (text: string) => text.replace(/@.*/, ''),
      },
      'me',
      'me@example.org',
    ],
  ])('%s, when it is read and when it is written', async (_what, type, converter, json, value) => {
    class One extends dto({ v: type, all: list(type) }) {}
    const binding: BindingOptions = { converters: [converter], responses: { 200: One } };
    const body = JSON.stringify({ v: json, all: [json] });
    expect((await bind(One, { json: body }, binding)).dto).toEqual({ v: value, all: [value] });
    expect((await bind(One, { json: body })).dto).not.toEqual({ v: value, all: [value] });
    const app = express().post('/', bindRequest(One, binding), (req, res) => {
      res.json(req.dto);
    });
    expect((await ask(app, { json: body })).text).toBe(body);
  });

  it('and leaves text to the type, or to its value parser', async () => {
    class One extends dto({ v: Code }) {}
    const binding = { converters: [{ type: Code, read: () => failure, write: String }] };
    expect((await bind(One, { path: '/?v=x' }, binding)).dto).toEqual({ v: new Code('x') });
    expect(
      (
        await bind(
          One,
          { path: '/?v=x' },
          { ...binding, valueParsers: [valueParserFor(Code, text => success(new Code(`${text}!`)))] },
        )
      ).dto,
    ).toEqual({ v: new Code('x!') });
    expect((await bind(One, { json: { v: 'x' } }, binding)).status).toBe(400);
  });
});

it.each<[string, unknown]>([
  ['no array', money],
  ['no type', [{ read: money.read, write: money.write }]],
  ['no reader', [{ type: Money, write: money.write }]],
  ['no writer', [{ type: Money, read: money.read }]],
  ['nothing', [undefined]],
])('an invalid converter is refused when the middleware is made: %s', (_what, given) => {
  expect(() => bindRequest(Point, { converters: given as JsonConverter[] })).toThrow(
    'converters must be an array of { type, read, write }',
  );
});
