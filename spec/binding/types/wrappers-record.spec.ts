import express from 'express';
import {
  bindRequest,
  dto,
  fromForm,
  fromHeader,
  fromQuery,
  int,
  list,
  nullable,
  optional,
  record,
  string,
  type AnyType,
  type BindingOptions,
} from '../../../lib';
import { documentOf } from '../../support/described';
import { ask, problemIn, type Sent } from '../../support/ask';
import { holds, type Equal } from '../../types/equal';

class Size extends dto({ width: int }) {
  static check({ width }: Size, fail: (name: 'width', reason: string) => void): void {
    if (width > 9) fail('width', 'too wide');
  }
}
class Stock extends dto({ stock: record(int) }) {}
class Sizes extends dto({ sizes: record(Size) }) {}
class Nested extends dto({ all: optional(record(record(list(int)))), texts: optional(record(nullable(string))) }) {}
const Form = dto({ form: fromForm(record(int)) });
const Query = dto({ query: fromQuery(dto({ sizes: record(Size), more: optional(record(int)) })) });
const Header = dto({ v: fromHeader(record(int), { name: 'X-V' }) });

/** What was bound, as JSON, or the failures. */
async function bound(Dto: AnyType, sent: Sent, options: BindingOptions = {}): Promise<unknown> {
  const app = express();
  app.post('/', bindRequest(Dto, { allowFormData: { urlEncoded: true }, ...options }), (req, res) => {
    res.json(req.dto);
  });
  const response = await ask(app, sent);
  const errors = problemIn(response)?.errors;
  return errors?.map(one => `${one.name}: ${one.detail}`) ?? (JSON.parse(response.text) as unknown);
}

const NOT_INT = 'is not a whole number from -2147483648 to 2147483647.';

it.each<[string, AnyType, Sent, unknown]>([
  ['JSON', Stock, { json: { stock: { red: 1, 'a b': 2 } } }, { stock: { red: 1, 'a b': 2 } }],
  ['nothing', Stock, { json: { stock: {} } }, { stock: {} }],
  [
    'nested',
    Nested,
    { json: { all: { a: { b: [1] } }, texts: { x: null } } },
    { all: { a: { b: [1] } }, texts: { x: null } },
  ],
  ['text of a form', Stock, { form: 'stock={"red":1}' }, { stock: { red: 1 } }],
  ['text of a query', Stock, { path: '/?stock={"red":1}' }, { stock: { red: 1 } }],
  ['a whole form', Form, { form: 'red=1&Blue=2' }, { form: { red: 1, Blue: 2 } }],
  ['a header', Header, { headers: { 'X-V': '{"a":1}' } }, { v: { a: 1 } }],
  [
    'names of a query',
    Query,
    { path: '/?sizes[a].width=1&sizes.b.width=2' },
    { query: { sizes: { a: { width: 1 }, b: { width: 2 } } } },
  ],
])('a record is read from %s', async (_source, Dto, sent, expected) => {
  expect(await bound(Dto, sent)).toEqual(expected);
});

it.each<[string, string, AnyType, unknown]>([
  ['another case', 'stock[A]=1&stock[a]=2&STOCK.b=3', dto({ stock: record(int) }), { stock: { A: 1, a: 2, b: 3 } }],
  ['an index', 'stock[0]=1&stock[10]=2', dto({ stock: record(int) }), { stock: { '0': 1, '10': 2 } }],
  [
    'names below',
    'sizes[A].width=1&sizes[a].Width=2&SIZES[A].x=1',
    dto({ sizes: record(Size) }),
    { sizes: { A: { width: 1 }, a: { width: 2 } } },
  ],
  [
    'lists',
    'all[A][b]=1&all[a][b]=2&all[A][B]=3&all[A][b]=4',
    Nested,
    { all: { A: { b: [1, 4], B: [3] }, a: { b: [2] } } },
  ],
])('names of a record are those of the client: %s', async (_what, text, Dto, expected) => {
  const pairs = text.split('&').map(pair => pair.split('=') as [string, string]);
  for (const sent of [{ path: `/?${text}` }, { form: text }, { multipart: pairs }])
    expect(await bound(Dto, sent)).toEqual(expected);
});

it('an index is a name of a record also behind a parser of forms', async () => {
  const app = express();
  app.use(express.urlencoded({ extended: true }));
  app.post('/', bindRequest(Stock, { allowFormData: { urlEncoded: true } }), (req, res) => {
    res.json(req.dto);
  });
  expect((await ask(app, { form: 'stock[0]=1' })).text).toBe('{"stock":{"0":1}}');
});

it.each<[string, AnyType, Sent, readonly string[]]>([
  ['a wrong value', Stock, { json: { stock: { red: 1, blue: 'x' } } }, [`stock.blue: The value "x" ${NOT_INT}`]],
  ['null', Stock, { json: { stock: { red: null } } }, [`stock.red: The value null ${NOT_INT}`]],
  ['a list', Stock, { json: { stock: [1] } }, ['stock: The value […] is not a JSON object.']],
  ['one that is missing', Stock, { json: {} }, ['stock: A value is required.']],
  [
    'too many names',
    Stock,
    { json: { stock: { a: 1, b: 2, c: 3, d: 4 } } },
    ['stock: There are 4 items; 3 are allowed.'],
  ],
  ['too many names of a form', Form, { form: 'a=1&b=2&c=3&d=4' }, [': There are 4 items; 3 are allowed.']],
  ['a value in a form', Form, { form: 'red=x' }, [`red: The value "x" ${NOT_INT}`]],
  [
    'values of a dto, with its check',
    Sizes,
    { json: { sizes: { a: { width: 10 }, '7': { width: 'x' } } } },
    [`sizes.7.width: The value "x" ${NOT_INT}`, 'sizes.a.width: too wide'],
  ],
  ['what a query lacks', Query, { path: '/?sizes[a].height=1' }, ['sizes.a.width: A value is required.']],
])('failures of a record: %s', async (_case, Dto, sent, expected) => {
  expect(await bound(Dto, sent, { limits: { items: 3 } })).toEqual(expected);
});

it('answers repeat no name of a header that may hold a secret', async () => {
  class Secret extends dto({ v: fromHeader(record(int), { name: 'Authorization' }) }) {}
  const failures = await bound(Secret, { headers: { Authorization: '{"4111":"x"}' } });
  expect(JSON.stringify(failures)).not.toContain('4111');
});

it('__proto__ is a name like any other, read and written', async () => {
  const app = express();
  app.post('/', bindRequest(Stock, { responses: { 200: Stock } }), (req, res) => {
    res.json({ stock: { ...req.dto.stock, constructor: req.dto.stock['constructor'] ?? 0 } });
  });
  const { text } = await ask(app, { json: '{"stock":{"__proto__":1}}' });
  expect(text).toBe('{"stock":{"__proto__":1,"constructor":0}}');
});

it('with unknownNames: refuse, a record takes all names, and its values those of their type', async () => {
  const sent = { json: { sizes: { a: { width: 1, x: 2 } } } };
  expect(await bound(Sizes, sent, { unknownNames: 'refuse' })).toEqual(['sizes.a.x: No property takes this name.']);
  const path = '/?sizes[a].width=1&sizes[a].x=1&more[q]=2';
  expect(await bound(Query, { path }, { unknownNames: 'refuse' })).toEqual([
    'sizes[a].x: No property takes this name.',
  ]);
});

it('the API description says that all names are taken, and outside of JSON how many', () => {
  const app = express();
  app.post('/', bindRequest(dto({ stock: record(int) })), () => undefined);
  app.get('/', bindRequest(dto({ query: fromQuery(record(string)) })), () => undefined);
  app.put('/', bindRequest(Form, { allowFormData: true }), () => undefined);
  expect(JSON.stringify(documentOf(app))).toContain(
    '{"type":"object","additionalProperties":{"type":"integer","format":"int32"},"maxProperties":10000}',
  );
});

it('a value that may be missing is an error; the type is a record', () => {
  class Wrong extends dto({ v: record(optional(int)) }) {}
  expect(() => bindRequest(Wrong)).toThrow('Wrong.v: a record has no missing values');
  expect(() => holds<Equal<Stock['stock'], Record<string, number>>>()).not.toThrow();
});
