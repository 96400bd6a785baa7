import express from 'express';
import { bindRequest, dto, fromHeader, fromQuery, int, list, nullable, optional, record, string } from '../../../lib';
import type { AnyType } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { documentOf } from '../../support/described';
import { outcome } from '../../support/one-endpoint';
import { below, threeWays } from './three-ways';

class Size extends dto({ width: int }) {
  static check({ width }: Size, fail: (name: 'width', reason: string) => void): void {
    if (width > 9) fail('width', 'too wide');
  }
}
class Stock extends dto({ stock: record(int) }) {}
class Nested extends dto({ all: optional(record(record(list(int)))), texts: optional(record(nullable(string))) }) {}
const NOT_INT = 'The value "x" is not a whole number from -2147483648 to 2147483647.';

it.each<[string, AnyType, Sent, unknown]>([
  ['JSON', Stock, { json: { stock: { red: 1, 'a b': 2 } } }, { stock: { red: 1, 'a b': 2 } }],
  ['nothing', Stock, { json: { stock: {} } }, { stock: {} }],
  ['lists in records', Nested, { json: { all: { a: { b: [1] } } } }, { all: { a: { b: [1] } } }],
  ['null in records', Nested, { json: { texts: { x: null } } }, { texts: { x: null } }],
  ['a header', dto({ v: fromHeader(record(int)) }), { headers: { V: '{"a":1}' } }, { v: { a: 1 } }],
  ['a wrong value', Stock, { json: { stock: { red: 1, blue: 'x' } } }, [`json stock.blue: ${NOT_INT}`]],
  ['null', Stock, { json: { stock: { red: null } } }, [`json stock.red: ${NOT_INT.replace('"x"', 'null')}`]],
  ['a list', Stock, { json: { stock: [1] } }, ['json stock: The value […] is not a JSON object.']],
  ['none', Stock, { json: {} }, ['json stock: A value is required.']],
  [
    'too many names',
    Stock,
    { json: { stock: { a: 1, b: 2, c: 3, d: 4 } } },
    ['json stock: There are 4 items; 3 are allowed.'],
  ],
  [
    'values of a dto, with its check',
    dto({ sizes: record(Size) }),
    { json: { sizes: { a: { width: 10 }, '7': { width: 'x' } } } },
    [`json sizes.7.width: ${NOT_INT}`, 'json sizes.a.width: too wide'],
  ],
])('a record is read from %s', async (_source, Dto, sent, expected) => {
  expect(await outcome(Dto, sent, { limits: { items: 3 } })).toEqual(expected);
});

const SPELLINGS = 'This name was sent in two spellings, in lower and upper case.';

it.each<[AnyType, string, unknown]>([
  [record(int), 'red=1&Blue=2&Red=3', [`red: ${SPELLINGS}`]],
  [record(int), 'red=x', [`red: ${NOT_INT}`]],
  [record(int), 'a=1&b=2&c=3&d=4', [': There are 4 items; 3 are allowed.']],
  [Stock, 'stock={"red":1}', { stock: { red: 1 } }],
  [Stock, 'stock[A]=1&STOCK.b=3', { stock: { A: 1, b: 3 } }],
  [Stock, 'stock[0]=1&stock[10]=2', { stock: { '0': 1, '10': 2 } }],
  [Stock, 'stock[__proto__]=1', { stock: JSON.parse('{"__proto__":1}') as unknown }],
  [Nested, 'all[A][b]=1&all[a][b]=2', [`all.A: ${SPELLINGS}`]],
  [dto({ s: record(Size) }), 's[A].width=1&S[A].x=1', { s: { A: { width: 1 } } }],
  [dto({ s: record(Size) }), 's[a].height=1', ['s.a.width: A value is required.']],
])('%#: names of a record are those of the client: %s', async (type, text, expected) => {
  expect(await threeWays(type, text, { limits: { items: 3 } })).toEqual(expected);
  if (type === Stock)
    expect(await below(record(int), text.replaceAll(/stock/gi, 'v'))).toEqual((expected as Stock).stock);
});

it('an index is a name of a record also behind a parser of forms', async () => {
  const before = [express.urlencoded({ extended: true })];
  expect(await outcome(Stock, { form: 'stock[0]=1' }, { before })).toEqual({ stock: { '0': 1 } });
});

it('answers repeat no name of a header that may hold a secret', async () => {
  const Secret = dto({ v: fromHeader(record(int), { name: 'Authorization' }) });
  const failures = await outcome(Secret, { headers: { Authorization: '{"4111":"x"}' } });
  expect([failures, JSON.stringify(failures).includes('4111')]).toEqual([[expect.anything()], false]);
});

it('__proto__ is a name like any other, read and written', async () => {
  const app = express().post('/', bindRequest(Stock, { responses: { 200: Stock } }), (req, res) => {
    res.json({ stock: { ...req.dto.stock, constructor: req.dto.stock['constructor'] ?? 0 } });
  });
  const { text } = await ask(app, { json: '{"stock":{"__proto__":1}}' });
  expect(text).toBe('{"stock":{"__proto__":1,"constructor":0}}');
});

it('the API description says that all names are taken', () => {
  const app = express().post('/', bindRequest(dto({ stock: record(int) })), () => undefined);
  app.get('/', bindRequest(dto({ query: fromQuery(record(string)) })), () => undefined);
  const described = JSON.stringify(documentOf(app));
  for (const values of ['{"type":"integer","format":"int32"}', '{"type":"string"}'])
    expect(described).toContain(`{"type":"object","additionalProperties":${values}`);
});
