import express from 'express';
import { z } from 'zod';
import { bindRequest, bool, configure, dateTime, dto, enumOf, fromBody, fromClaim, fromHeader } from '../../../lib';
import { fromQuery, int, list, queryParam, string, valueParserFor } from '../../../lib';
import type { AnyType, BindingOptions, JsonConverter, ParseResult } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { bind, outcome } from '../../support/one-endpoint';

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
const written = encodeURIComponent(JSON.stringify(sent));
class Inner extends dto({ price: Money }) {}

it.each<[string, AnyType, Sent, unknown]>([
  ['a property', Inner, { json: { price: sent } }, { price }],
  ['a list', dto({ all: list(Money) }), { json: { all: [sent, '12.50'] } }, { all: [price, price] }],
  ['a nested dto', dto({ in: Inner }), { json: { in: { price: sent } } }, { in: { price } }],
  ['fromBody', dto({ price: fromBody(Money) }), { json: sent }, { price }],
  ['a list that is the whole body', list(Money), { json: [sent] }, [price]],
  ['a claim', dto({ price: fromClaim(Money, { name: 'sub' }) }), {}, { price }],
  ['JSON text in a query', dto({ price: queryParam(Money) }), { path: `/?price=${written}` }, { price }],
  ['other text in a query', dto({ price: queryParam(Money) }), { path: '/?price=12.50' }, { price }],
  ['a list in a query', dto({ all: queryParam(list(Money)) }), { path: `/?all=[${written}]` }, { all: [price] }],
  ['a header', dto({ price: fromHeader(Money) }), { headers: { price: JSON.stringify(sent) } }, { price }],
  ['a nested name', dto({ all: fromQuery(Inner) }), { path: '/?price=12.50' }, { all: { price } }],
  ['a failure', Inner, { json: { price: 'x' } }, ['json price: The value "x" is not a Money.']],
])('a class about which nothing is declared is read by its converter: %s', async (_where, Dto, request, value) => {
  const { bindRequest } = configure({ binding: { converters: [money] } });
  expect(() => bindRequest(Dto)).not.toThrow();
  expect(await outcome(Dto, request, { converters: [money], user: { sub: sent } })).toEqual(value);
});

const email = z.email();
const converter = (type: AnyType, read: (json: never) => unknown, write: (value: never) => unknown): JsonConverter => ({
  type: type as JsonConverter['type'],
  read: json => success(read(json as never)),
  write: write as JsonConverter['write'],
});

it.each<[string, AnyType, JsonConverter, unknown, unknown]>([
  ['dateTime', dateTime, converter(dateTime, (ms: number) => new Date(ms), (date: Date) => date.getTime()), 1_000, new Date(1_000)], // prettier-ignore
  ['int', int, converter(int, Number, String), '7', 7],
  ['tryParse', Code, converter(Code, text => new Code(`<${String(text)}>`), (code: Code) => code.text.slice(1, -1)), 'x', new Code('<x>')], // prettier-ignore
  ['a dto', Point, converter(Point, ([x, y]: number[]) => Object.assign(new Point(), { x, y }), ({ x, y }: Point) => [x, y]), [1, 2], { x: 1, y: 2 }], // prettier-ignore
  ['a schema', email, converter(email, text => `${String(text)}@a.de`, (text: string) => text.replace(/@.*/, '')), 'me', 'me@a.de'], // prettier-ignore
])('a converter takes precedence over the own reading and writing of %s', async (_what, type, one, json, value) => {
  class Both extends dto({ v: type, all: list(type) }) {}
  const binding: BindingOptions = { converters: [one], responses: { 200: Both } };
  const body = JSON.stringify({ v: json, all: [json] });
  expect(await outcome(Both, { json: body }, binding)).toEqual({ v: value, all: [value] });
  expect(await bind<AnyType>(Both, { json: body })).not.toMatchObject({ dto: { v: value } });
  const app = express().post('/', bindRequest(Both, binding), (req, res) => {
    res.json(req.dto);
  });
  expect((await ask(app, { json: body })).text).toBe(body);
});

it('a converter leaves text to the type, or to its value parser', async () => {
  const One = dto({ v: Code });
  const converters = [{ type: Code, read: () => failure, write: String }];
  const valueParsers = [valueParserFor(Code, text => success(new Code(`${text}!`)))];
  expect(await outcome(One, { path: '/?v=x' }, { converters })).toEqual({ v: new Code('x') });
  expect(await outcome(One, { path: '/?v=x' }, { converters, valueParsers })).toEqual({ v: new Code('x!') });
  expect((await bind(One, { json: { v: 'x' } }, { converters })).status).toBe(400);
});

const word = enumOf(['a', 'b']);
const semicolons = list(int);

it.each<[string, AnyType, (text: string) => unknown, string, unknown]>([
  ['tryParse', Code, text => new Code(`<${text}>`), 'x', new Code('<x>')],
  ['int', int, text => parseInt(text, 16), 'ff', 255],
  ['bool', bool, text => text === 'on', 'on', true],
  ['string', string, text => `${text}!`, '', '!'],
  ['an enum', word, text => (text === 'first' ? 'a' : 'b'), 'first', 'a'],
  ['a list', semicolons, text => text.split(';').map(Number), '1;2', [1, 2]],
  ['a dto', Point, text => Object.assign(new Point(), { x: Number(text), y: 0 }), '7', { x: 7, y: 0 }],
  ['a schema', email, text => `${text}@example.org`, 'me', 'me@example.org'],
])('a value parser takes precedence over the own reading of %s', async (_what, type, parse, text, value) => {
  const valueParsers = [valueParserFor(type, (given: string | undefined) => success(parse(given ?? '')) as never)];
  const One = dto({ v: type });
  expect(await outcome(One, { path: `/?v=${text}` }, { valueParsers })).toEqual({ v: value });
  expect(await bind<AnyType>(One, { path: `/?v=${text}` })).not.toMatchObject({ dto: { v: value } });
});

it('a value parser is asked about text only, never about JSON', async () => {
  class One extends dto({ code: Code, n: int, lines: list(Code), point: Point }) {}
  const valueParsers = [Code, int, Point].map(type => valueParserFor(type as AnyType, () => failure));
  const values = { code: 'x', n: 7, lines: ['a', 'b'], point: { x: 1, y: 2 } };
  const bound = { code: new Code('x'), n: 7, lines: [new Code('a'), new Code('b')], point: { x: 1, y: 2 } };
  expect(await outcome(One, { json: values }, { valueParsers })).toEqual(bound);
  const path = `/?all=${encodeURIComponent(JSON.stringify(values))}&some=["a"]`;
  const All = dto({ all: queryParam(One), some: queryParam(list(Code)), mine: fromClaim(One) });
  const all = { all: bound, some: [new Code('a')], mine: bound };
  expect(await outcome(All, { path }, { valueParsers, user: { mine: values } })).toEqual(all);
});
