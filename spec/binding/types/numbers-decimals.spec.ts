import express, { type RequestHandler } from 'express';
import { BigNumber, bindRequest, configure, decimal, dto, field, idempotency, list, nullable } from '../../../lib';
import { optional, record, serializerContext, string, valueParserFor } from '../../../lib';
import type { AnyType, BindingOptions } from '../../../lib';
import { ask } from '../../support/ask';
import { documentOf, operationOf } from '../../support/described';

class Line extends dto({ sku: string, price: decimal.with({ minimum: 0 }) }) {}
class Payment extends dto({
  amount: decimal,
  tip: optional(nullable(decimal)),
  rates: record(decimal),
  lines: field(list(Line)),
}) {}

const AMOUNT = '12345678901234567890.123456789012345678';
const sent = `{"amount":${AMOUNT},"tip":null,"rates":{"nok":"0.10"},"lines":[{"sku":"tea","price":4.5}]}`;
const written = { amount: AMOUNT, tip: null, rates: { nok: '0.1' }, lines: [{ sku: 'tea', price: '4.5' }] };

it.each<[string, { readonly responses?: Readonly<Record<number, AnyType>> }]>([
  ['with', { responses: { 201: Payment } }],
  ['without', {}],
])(
  "decimals: 'text' writes a payment as text, %s declared responses, also when it is replayed",
  async (_how, options) => {
    const once = idempotency();
    const app = express();
    const { bindRequest: binding } = configure({ binding: { decimals: 'text' } });
    app.post('/', once, binding(Payment, options) as RequestHandler, (req, res) => void res.status(201).json(req.dto));
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
    const [first, replay] = [
      await ask(app, { method: 'POST', headers, body: sent }),
      await ask(app, { method: 'POST', headers, body: sent }),
    ];
    expect([first.status, first.text]).toEqual([201, JSON.stringify(written)]);
    expect([replay.headers['idempotent-replayed'], replay.text]).toEqual(['true', first.text]);
  },
);

it.each<[unknown, unknown]>([
  ['4.50', '4.50'],
  [' 4.50 ', '4.50'],
  [new BigNumber('4.50'), '4.5'],
  [4.5, '4.5'],
  [7n, '7'],
  [new BigNumber('1e-20'), '0.00000000000000000001'],
  [new BigNumber(NaN), null],
  [null, null],
])('a decimal that is written as text: %p is %p', (value, text) => {
  const context = serializerContext({ decimals: 'text', responses: { 200: list(nullable(decimal)) } });
  expect(JSON.parse(context.write(200, [value]))).toEqual([text]);
});

it.each<[string, (value: unknown) => unknown, BindingOptions]>([
  [
    'what a converter writes stays',
    value => [value],
    { converters: [{ type: decimal, read: () => ({ success: false }), write: (value: unknown) => [value] }] },
  ],
  [
    'a value parser changes nothing',
    value => value,
    { valueParsers: [valueParserFor(decimal, () => ({ success: false }))] },
  ],
])("decimals: 'text', also where null is a value: %s", async (_what, shown, options) => {
  class Prices extends dto({ a: decimal, b: optional(decimal), c: nullable(decimal) }) {}
  const prices = { a: '4.50', b: '4.50', c: '4.50' };
  const app = express();
  app.get(
    '/',
    bindRequest(dto({ q: optional(string) }), { decimals: 'text', responses: { 200: Prices }, ...options }),
    (_req, res) => {
      res.json(prices);
    },
  );
  const { text } = await ask(app, { method: 'GET' });
  expect(JSON.parse(text)).toEqual({ a: shown('4.50'), b: shown('4.50'), c: shown('4.50') });
});

it('the document says that a decimal is text, in requests and in responses', async () => {
  const options = { decimals: 'text', responses: { 200: Line } } as const;
  const { schemas } = await operationOf(Line, { options });
  expect(schemas).toMatchObject({
    Line: { properties: { price: { type: 'string', format: 'decimal', pattern: expect.anything() } } },
    LineResponse: { properties: { price: { type: 'string', format: 'decimal' } } },
  });
  const app = express().post('/', bindRequest(Line, { responses: { 200: Line } }));
  expect(documentOf(app)).toMatchObject({
    components: { schemas: { LineResponse: { properties: { price: { type: 'number' } } } } },
  });
});
